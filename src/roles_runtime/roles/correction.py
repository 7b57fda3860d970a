"""Self-correction: a role that finds fault with its model's answer writes to itself, so that it is seen and bounded."""

from __future__ import annotations

from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import UNKNOWN, Post, RoleName
from roles_runtime.roles.prompt import recipients
from roles_runtime.roles.turn import Turn

AGAIN = "Write the whole answer again"
"""What a model is told to do; with these words every fault ends that is told to it."""

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
        invalid = f"{raw_text[:MAX_INVALID_CHARS]}\n[cut off: the answer has {len(raw_text):,} characters]"
    post = turn.answer(problem, turn.role)
    post.add_attachment(Attachment.create(AttachmentType.invalid_response, invalid))
    post.add_attachment(Attachment.create(AttachmentType.revise_message, problem))
    return post


def exhausted(turn: Turn, raw_text: str, problem: str) -> InvalidResponseError:
    """What a role raises that may correct itself no more: the runtime ends its round, or tells its requester."""
    count = f" after {turn.corrections} self-corrections" if turn.corrections else ""
    # What the model was told to do next is of no use to a person.
    fault = problem.partition(AGAIN)[0].strip()
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
    there = f"it must be one of: {', '.join(names)}. {AGAIN}."
    if wanted in ("", UNKNOWN):
        raise InvalidResponseError(f"send_to is missing; {there}")
    if wanted.casefold() == turn.role.casefold():
        raise InvalidResponseError(f"send_to must not be {turn.role} itself; {there}")
    raise InvalidResponseError(f"send_to is {wanted[:80]!r}, who is not in the team; {there}")
