"""The Router: the one way out for every Post. It checks, seals, writes down, then sends."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from roles_runtime.errors import CorrectionsExhaustedError, RoleError
from roles_runtime.mail.envelope import Envelope
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import Outcome, PostSent, TurnFinished
from roles_runtime.posts.post import UNKNOWN, USER, Post, RecalledPost, RoleName, SealedPost, seal
from roles_runtime.roles.turn import Answer
from roles_runtime.runtime.active import ActiveRound, Branch, Join
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.journal import Keyed
from roles_runtime.runtime.large import shrink, size_bytes

_CORRECTIONS = frozenset({AttachmentType.revise_message, AttachmentType.invalid_response})


async def route(active: ActiveRound, actor: Actor, envelope: Envelope, answer: Answer, started_at: int) -> Outcome:
    """Takes what a role answered: checks it, seals it, writes it down, delivers it.

    A late answer, of a round that is over, is dropped. The leader's Post to User closes the round in the same append.

    Returns:
        The verdict: ``ok``; ``self_correction`` or ``rejected`` where the role writes to itself to mend its answer;
        ``cancelled`` where it came too late.

    Raises:
        RoleError: the answer breaks the contract of a role.
        StoreError: it could not be written down.
    """
    if not active.is_open:
        return "cancelled"
    name = actor.name
    outcome: Outcome = "ok"
    if (
        type(answer) is Post
        and answer.send_from == name
        and answer.send_to in actor.others
        and type(answer.id) is type(answer.message) is str
        and (_fits(answer, active.large) if answer.attachment_list else len(answer.message) <= active.large)
    ):
        posts: tuple[Post, ...] = (answer,)
    else:
        posts, outcome = await _admit(active, actor, answer)
        if active.is_over:
            return "cancelled"
    record = active.round
    answered = (envelope.key,) if len(envelope.posts) == 1 else tuple([post.id for post in envelope.posts])
    finished = TurnFinished(record.id, name, answered, started_at, outcome)
    turn_id = f"{record.id}/{envelope.key}/{name}"
    actor.scope = None
    actor.sending = posts
    active.replies += len(posts)
    first = posts[0]
    if len(posts) > 1 or active.replies >= active.most_replies or (actor.leads and first.send_to == USER):
        await _send_or_close(active, actor, envelope, posts, finished, turn_id)
        return outcome
    seal(first)
    record.post_list.append(first)
    await active.session.journal.append_turn(PostSent(record.id, first, answered), finished, turn_id)
    if active.is_over:
        # It was ended from outside while the store was writing.
        return outcome
    if envelope.branch:
        await _go_on(active, actor, envelope, first)
    elif first.send_to in active.actors:
        # As `hand_over`, without its cost: this is the way of most Posts.
        await active.carry(
            Envelope(active.session.id, record.id, first.send_to, posts, first.id, len(record.post_list))
        )
    elif first.send_to != USER:
        await hand_over(active, first.send_to, posts, len(record.post_list))
    actor.sending = ()
    return outcome


async def _send_or_close(
    active: ActiveRound,
    actor: Actor,
    envelope: Envelope,
    posts: tuple[Post, ...],
    finished: TurnFinished,
    turn_id: str,
) -> None:
    """What most turns do not do: ends the round in the append of the answer, or sends several Posts."""
    events = [*_sent_all(active.round, posts, finished.answered, turn_id), (finished, turn_id)]
    if actor.leads and posts[0].send_to == USER:
        await active.write_end([*events, *active.closing(RoundState.finished)])
    elif active.replies >= active.most_replies:
        await active.write_end([*events, *active.closing(RoundState.failed, "limit", _limit_hit(active))])
    else:
        await active.session.journal.append(events)
        if active.is_open:
            await _open_join(active, actor, envelope.branch, posts)
            actor.sending = ()


async def _admit(active: ActiveRound, actor: Actor, answer: object) -> tuple[tuple[Post, ...], Outcome]:
    """Checks an answer of any kind, and makes what is in it ready to be sent."""
    posts, outcome = _checked(active, actor, answer)
    for post in posts:
        if size_bytes(post) > active.large:
            await shrink(post, active.session.workspace, active.limits, actor.name)
    return posts, outcome


def _checked(active: ActiveRound, actor: Actor, answer: object) -> tuple[tuple[Post, ...], Outcome]:
    """Gives each Post the name that its ``send_to`` means."""
    posts = _open_posts(actor.name, answer)
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
    return tuple(answer)


def _malformed(post: Post) -> str:
    for field in ("id", "message", "send_to"):
        if not isinstance(getattr(post, field), str):
            return f"whose {field} is {_describe(getattr(post, field))} and no text"
    if not isinstance(post.attachment_list, list):
        return f"whose attachment_list is {_describe(post.attachment_list)} and no list"
    for each in post.attachment_list:
        if not isinstance(each, Attachment):
            return f"with {_describe(each)} for an attachment"
        if not all(isinstance(value, str) for value in (each.id, each.type, each.content)):
            return "with an attachment whose id, type or content is no text"
    return ""


def _fits(post: Post, most: int) -> bool:
    """Whether a Post can go as it is; one that is out of the ordinary is looked at closely."""
    size = len(post.message)
    for attachment in post.attachment_list:
        if (
            type(attachment) is not Attachment
            or type(attachment.content) is not str
            or type(attachment.id) is not str
            or not isinstance(attachment.type, str)
        ):
            return False
        size += len(attachment.content)
    return size <= most


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


def _sent_all(record: Round, posts: Sequence[Post], answered: tuple[str, ...], turn_id: str) -> list[Keyed]:
    events: list[Keyed] = []
    for n, post in enumerate(posts):
        seal(post)
        record.post_list.append(post)
        events.append((PostSent(record.id, post, answered), f"{turn_id}#{n}"))
    return events


def _limit_hit(active: ActiveRound) -> str:
    return (
        f"The round had {active.replies} replies and no answer to User, and max_internal_chat_round_num is "
        f"{active.limits.max_internal_chat_round_num}. Raise it, or ask for less at once."
    )


async def _go_on(active: ActiveRound, actor: Actor, answered: Envelope, post: Post) -> None:
    """Sends a Post on within its branch, or lets the branch come in."""
    number = answered.branch
    owner = active.branches[number].join.owner
    if post.send_to == owner:
        await _join(active, number, post)
    elif post.send_to == USER:
        await fail_branch(active, actor, answered, f"it wrote to {USER} and not to {owner}.")
    else:
        await hand_over(active, post.send_to, (post,), len(active.round.post_list), number)


async def hand_over(
    active: ActiveRound, recipient: RoleName, posts: tuple[Post, ...], position: int, branch: int = 0
) -> None:
    """Sends Posts that stand in the journal to a role's mailbox."""
    if recipient not in active.actors:
        active.open_actor(recipient)
    await active.carry(Envelope(active.session.id, active.round.id, recipient, posts, posts[-1].id, position, branch))


async def _open_join(active: ActiveRound, owner: Actor, outer: int, posts: tuple[Post, ...]) -> None:
    join = Join(owner.name, outer)
    owner.joins += 1
    numbers = range(active.next_branch, active.next_branch + len(posts))
    active.next_branch += len(posts)
    for number, post in zip(numbers, posts, strict=True):
        join.answers[number] = None
        active.branches[number] = Branch(join, post.send_to)
    position = len(active.round.post_list) - len(posts)
    for n, (number, post) in enumerate(zip(numbers, posts, strict=True), 1):
        await hand_over(active, post.send_to, (post,), position + n, number)


async def _join(active: ActiveRound, number: int, post: Post) -> None:
    """Takes the answer of a branch; the last one to come in lets the owner go on."""
    join = active.branches.pop(number).join
    join.answers[number] = post
    answers = tuple(answer for answer in join.answers.values() if answer is not None)
    if len(answers) == len(join.answers):
        active.actors[join.owner].joins -= 1
        await hand_over(active, join.owner, answers, len(active.round.post_list), join.outer)


async def fail_branch(active: ActiveRound, actor: Actor, answered: Envelope, problem: str, *finished: Keyed) -> None:
    """Lets a branch that can not be answered any more come in as a failure, from the role it began with.

    Args:
        active: The round.
        actor: Who failed it.
        answered: What that one was answering.
        problem: Why, as a clause.
        finished: What is written in the same append: the end of its turn, unless that stands already.
    """
    branch = active.branches[answered.branch]
    record = active.round
    post = Post.create(f"{branch.role} failed: {problem}", branch.role, branch.join.owner)
    seal(post)
    record.post_list.append(post)
    ids = tuple(each.id for each in answered.posts)
    sent = PostSent(record.id, post, ids)
    actor.sending = (post,)
    await active.session.journal.append([(sent, f"{record.id}/{ids[-1]}/{branch.role}#failed"), *finished])
    if active.is_open:
        await _join(active, answered.branch, post)
        actor.sending = ()
