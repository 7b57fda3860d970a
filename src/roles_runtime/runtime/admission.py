"""What the router lets through: an answer is looked at, addressed, and mended or refused before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

from roles_runtime.errors import CorrectionsExhaustedError, RoleError
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.event import Outcome
from roles_runtime.posts.post import UNKNOWN, USER, Post, RecalledPost, RoleName, SealedPost
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.large import shrink, size_bytes
from roles_runtime.runtime.text import can_be_kept, fault_of

_CORRECTIONS = frozenset({AttachmentType.revise_message, AttachmentType.invalid_response})


def fits(post: Post, most: int) -> bool:
    """Whether a Post can go as it is; one that is out of the ordinary is looked at closely."""
    size = len(post.message)
    for attachment in post.attachment_list:
        # Each is asked in the cheapest way first: this is done in every hop.
        if type(attachment) is not Attachment:
            return False
        identity, kind, content, extra = attachment.id, attachment.type, attachment.content, attachment.extra
        if not (
            type(identity) is type(content) is str
            and identity.isascii()
            and (content.isascii() or can_be_kept(content))
            and (type(kind) is AttachmentType or (type(kind) is str and kind.isascii()) or can_be_kept(kind))
            and (extra is None or (type(extra) is SharedMemoryEntry and _is_json(attachment)))
        ):
            return False
        size += len(content)
    return size <= most


async def admit(active: ActiveRound, actor: Actor, answer: object) -> tuple[tuple[Post, ...], Outcome]:
    """Checks an answer of any kind, and makes what is in it ready to be sent."""
    posts, outcome = _checked(active, actor, answer)
    for post in posts:
        if size_bytes(post) > active.large:
            await shrink(post, active.session.workspace, active.limits, actor.name)
    return posts, outcome


def _checked(active: ActiveRound, actor: Actor, answer: object) -> tuple[tuple[Post, ...], Outcome]:
    """Gives each Post the name that its ``send_to`` means."""
    posts = _open_posts(actor.name, answer)
    _check_new(active, actor, posts)
    if len(posts) == 1:
        post, outcome = _addressed(active, actor, posts[0])
        return (post,), outcome
    for post in posts:
        if _is_nobody(active, post.send_to):
            return (_rejected(active, actor, post),), "rejected"
    admitted = tuple(_addressed(active, actor, post)[0] for post in posts)
    recipients = [post.send_to for post in admitted]
    if actor.name in recipients or USER in recipients or len(set(recipients)) < len(recipients):
        listed = ", ".join(recipients)
        raise RoleError(actor.name, f"a list of Posts is for distinct other roles, not for {listed}; send them singly.")
    return admitted, "ok"


def _open_posts(name: RoleName, answer: object) -> tuple[Post, ...]:
    if isinstance(answer, Post):
        answer = (answer,)
    elif not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        raise RoleError(name, f"reply() returned {_describe(answer)}; it must return a Post or a list of Posts.")
    elif not answer:
        raise RoleError(name, "reply() returned an empty list; it must return a Post or a list of Posts.")
    for post in answer:
        if type(post) is not Post:
            raise RoleError(name, f"reply() returned {_describe(post)}; make a new Post with turn.answer(...).")
        if post.send_from != name:
            raise RoleError(name, f"it returned a Post of {post.send_from!r}; a role sends in its own name only.")
        problem = _malformed(post)
        if problem:
            raise RoleError(name, f"it returned a Post {problem}; nothing else could be read back.")
        # Members of an enum do for names, and are looked up; what is kept is plain.
        post.send_from, post.send_to = name, _plain(post.send_to)
    return tuple(answer)


def _check_new(active: ActiveRound, actor: Actor, posts: Sequence[Post]) -> None:
    """What follows from a Post is known by its id: of two with one id, one would be lost."""
    known = active.ids
    # Those that went the short way since; they are added here, where it costs the short way nothing.
    known.update(post.id for post in active.round.post_list[len(known) :])
    own = [post.id for post in posts]
    for n, each in enumerate(own):
        if each in known or each in own[:n]:
            problem = f"it returned a Post of the id {each!r}, which another one of this round has"
            raise RoleError(actor.name, f"{problem}; make each anew with turn.answer(...).")


def _malformed(post: Post) -> str:
    for field, value in (("id", post.id), ("message", post.message), ("send_to", _plain(post.send_to))):
        if fault := fault_of(value):
            return f"whose {field} {fault}"
    if not isinstance(post.attachment_list, list):
        return f"whose attachment_list is {_describe(post.attachment_list)} and no list"
    for each in post.attachment_list:
        if not isinstance(each, Attachment):
            return f"with {_describe(each)} for an attachment"
        kind = _plain(each.type) if isinstance(each.type, Enum) else each.type
        for field, value in (("id", each.id), ("type", kind), ("content", each.content)):
            if fault := fault_of(value):
                return f"with an attachment whose {field} {fault}"
        if not _is_json(each):
            return f"with an attachment ({each.type}) whose extra is neither JSON nor a shared entry"
    return ""


def _plain(name: str) -> str:
    """The text of any kind of str, whatever it shows itself as; anything else as it is."""
    return str.__str__(name) if isinstance(name, str) else name


def _is_json(attachment: Attachment) -> bool:
    """Whether its extra comes back from the journal as it went in."""
    extra = attachment.extra
    kind = SharedMemoryEntry if isinstance(extra, SharedMemoryEntry) else object
    try:
        return bool(msgspec.json.decode(msgspec.json.encode(extra), type=kind) == extra)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return False


def _addressed(active: ActiveRound, actor: Actor, post: Post) -> tuple[Post, Outcome]:
    if _is_nobody(active, post.send_to):
        return _rejected(active, actor, post), "rejected"
    recipient = active.team.address(post.send_to) or actor.requester
    post.send_to = recipient
    if recipient == actor.name and _is_correction(post):
        return _correction(active, actor, post), "self_correction"
    return post, "ok"


def _is_nobody(active: ActiveRound, send_to: str) -> bool:
    return send_to not in ("", UNKNOWN) and active.team.address(send_to) is None


def _is_correction(post: Post) -> bool:
    return any(attachment.type in _CORRECTIONS for attachment in post.attachment_list)


def _correction(active: ActiveRound, actor: Actor, post: Post) -> Post:
    """Counts a self-correction; one too many goes to the requester, or ends the leader's round."""
    if actor.corrections < active.limits.max_self_corrections:
        actor.corrections += 1
        return post
    if actor.leads:
        raise CorrectionsExhaustedError(actor.name, active.limits.max_self_corrections, post.message)
    post.send_to = actor.requester
    post.del_attachment([AttachmentType.revise_message])
    return post


def _rejected(active: ActiveRound, actor: Actor, post: Post) -> Post:
    name = actor.name
    if actor.scope is not None:
        actor.scope.withdraw()
    problem = (
        f"There is no role {post.send_to!r} to send to. Send to one of these instead: {active.team.recipients(name)}."
    )
    raw = msgspec.json.encode({"response": {"send_to": post.send_to, "message": post.message}}).decode()
    again = Post.create(
        problem,
        name,
        name,
        [
            *(each for each in post.attachment_list if each.type not in _CORRECTIONS),
            Attachment.create(AttachmentType.invalid_response, raw),
            Attachment.create(AttachmentType.revise_message, problem),
        ],
    )
    return _correction(active, actor, again)


def _describe(value: object) -> str:
    if isinstance(value, RecalledPost):
        return "a copy of a Post from memory"
    if isinstance(value, SealedPost):
        return "a Post that was delivered already"
    return "None" if value is None else f"a {type(value).__name__}"
