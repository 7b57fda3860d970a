"""Self-correction: a role that finds fault with its model's answer writes to itself, so that it is seen and bounded."""

from __future__ import annotations

from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import UNKNOWN, Post, RoleName
from roles_runtime.roles.languages import words
from roles_runtime.roles.prompt import recipients
from roles_runtime.roles.turn import Turn

MAX_INVALID_CHARS = 16_000
"""How much of a faulty answer is kept: enough to recognise it, and no flood that a prompt has to carry again."""


def may_correct(turn: Turn, limit: int | None = None) -> bool:
    """Whether this role may correct itself once more in this round.

    Args:
        turn: The turn.
        limit: A bound of the role's own; the team's holds as well.
    """
    bound = turn.max_corrections if limit is None else min(limit, turn.max_corrections)
    return turn.corrections < bound


def correction(turn: Turn, raw_text: str, problem: str) -> Post:
    """A self-send that carries the faulty answer and what was wrong with it."""
    invalid = raw_text
    if len(raw_text) > MAX_INVALID_CHARS:
        note = words(turn.language).kept_part.format(length=len(raw_text))
        invalid = f"{raw_text[:MAX_INVALID_CHARS]}\n{note}"
    post = turn.answer(problem, turn.role)
    post.add_attachment(Attachment.create(AttachmentType.invalid_response, invalid))
    post.add_attachment(Attachment.create(AttachmentType.revise_message, problem))
    return post


def exhausted(turn: Turn, raw_text: str, problem: str) -> InvalidResponseError:
    """What a role raises that may correct itself no more: the runtime ends its round, or tells its requester."""
    count = f" after {turn.corrections} self-corrections" if turn.corrections else ""
    # What the model was told to do next is of no use to a person.
    fault = problem.partition(words(turn.language).again)[0].strip()
    return InvalidResponseError(f"no usable answer{count}: {fault}", raw_text)


def recipient(turn: Turn, send_to: RoleName) -> RoleName:
    """The name that a model means: exact, or stripped and the only one that is equal but for case.

    Raises:
        InvalidResponseError: it is nobody of the team, or the role itself; the error names those there are.
    """
    names = recipients(turn.roster, turn.role)
    wanted = send_to.strip()
    if wanted in names:
        return wanted
    alike = [name for name in names if name.casefold() == wanted.casefold()]
    if len(alike) == 1:
        return alike[0]
    told = words(turn.language)
    if wanted in ("", UNKNOWN):
        problem = told.no_recipient
    elif wanted.casefold() == turn.role.casefold():
        problem = told.own_recipient
    else:
        problem = told.no_member
    raise InvalidResponseError(told.faulty(problem, me=turn.role, given=wanted[:80], names=", ".join(names)))
