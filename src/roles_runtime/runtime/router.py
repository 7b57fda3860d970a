"""The Router: the one way out for every Post. It checks, seals, writes down, then sends."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from roles_runtime.done import DONE
from roles_runtime.mail.envelope import Envelope
from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import Outcome, PostSent, TurnFinished
from roles_runtime.posts.post import USER, Post, RoleName, seal
from roles_runtime.roles.turn import Answer
from roles_runtime.runtime.active import ActiveRound, Branch, Join
from roles_runtime.runtime.actor import Actor
from roles_runtime.runtime.admission import admit, fits
from roles_runtime.runtime.journal import Keyed
from roles_runtime.runtime.text import can_be_kept


def route(
    active: ActiveRound,
    actor: Actor,
    envelope: Envelope,
    answer: Answer,
    started_at: int,
    admitted: Outcome | None = None,
) -> Awaitable[Outcome | None]:
    """Takes what a role answered: checks it, seals it, writes it down, delivers it; the caller clears `sending` then.

    A late answer, of a round that is over, is dropped. The leader's Post to User closes the round in the same append.
    Most answers are one Post to another role, that needs no mending and ends nothing: they go straight through here.

    Args:
        active: The round.
        actor: Who answers.
        envelope: What is answered.
        answer: The answer.
        started_at: When the turn began, in ns.
        admitted: The verdict, where the answer is one Post that was looked at closely already.

    Returns:
        The rest, which gives the verdict: ``ok`` or None; ``self_correction`` or ``rejected`` where the role writes to
        itself to mend its answer; ``cancelled`` where it came too late. `DONE` where nothing had to wait.

    Raises:
        RoleError: the answer breaks the contract of a role.
        StoreError: it could not be written down.
    """
    name, replies = actor.name, active.replies + 1
    if not (
        type(answer) is Post
        and (
            admitted
            or (
                answer.send_from is name
                and answer.send_to in actor.straight
                and type(answer.id) is type(answer.message) is type(answer.send_to) is str
                and answer.id.isascii()
                and (answer.message.isascii() or can_be_kept(answer.message))
                and (fits(answer, active.large) if answer.attachment_list else len(answer.message) <= active.large)
                and replies < active.most_replies
                and active.is_open
            )
        )
    ):
        return _look_closely(active, actor, envelope, answer, started_at)
    record, key, recipient = active.round, envelope.key, answer.send_to
    answered = (key,) if len(envelope.posts) == 1 else tuple([post.id for post in envelope.posts])
    seal(answer)
    record.post_list.append(answer)
    active.replies = replies
    actor.scope = None
    posts = actor.sending = (answer,)
    durable = active.session.journal.append_turn(
        PostSent(record.id, answer, answered),
        TurnFinished(record.id, name, answered, started_at, admitted or "ok"),
        f"{record.id}/{key}/{name}",
    )
    if durable is not DONE or envelope.branch or recipient not in active.actors:
        return _deliver(durable, active, actor, envelope, answer)
    carry = active.carry
    landed = carry(Envelope(active.session_id, record.id, recipient, posts, answer.id, len(record.post_list)))
    if landed is not DONE:
        active.lands_once = False
        active.under_way.add(answer.id)
    return landed


async def _look_closely(
    active: ActiveRound, actor: Actor, envelope: Envelope, answer: Answer, started_at: int
) -> Outcome:
    """Takes an answer that is out of the ordinary, or ends the round, or comes too late."""
    if not active.is_open:
        return "cancelled"
    posts, outcome = await admit(active, actor, answer)
    if active.is_over:
        return "cancelled"
    first, replies = posts[0], active.replies + len(posts)
    if len(posts) == 1 and replies < active.most_replies and not (actor.leads and first.send_to == USER):
        await route(active, actor, envelope, first, started_at, outcome)
        return outcome
    active.replies = replies
    actor.scope = None
    actor.sending = posts
    answered = tuple([post.id for post in envelope.posts])
    turn_id = f"{active.round.id}/{envelope.key}/{actor.name}"
    finished = TurnFinished(active.round.id, actor.name, answered, started_at, outcome)
    await _send_or_close(active, actor, envelope, posts, finished, turn_id)
    return outcome


async def _deliver(durable: Awaitable[None], active: ActiveRound, actor: Actor, envelope: Envelope, post: Post) -> None:
    await durable
    if active.is_over:
        # It was ended from outside while the store was writing.
        return
    if envelope.branch:
        await _go_on(active, actor, envelope, post)
    elif post.send_to != USER:
        await hand_over(active, post.send_to, (post,), len(active.round.post_list))


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


def hand_over(
    active: ActiveRound, recipient: RoleName, posts: tuple[Post, ...], position: int, branch: int = 0
) -> Awaitable[None]:
    """Sends Posts that stand in the journal to a role's mailbox."""
    if recipient not in active.actors:
        active.open_actor(recipient)
    key = posts[-1].id
    landed = active.carry(Envelope(active.session_id, active.round.id, recipient, posts, key, position, branch))
    if landed is not DONE:
        active.lands_once = False
        active.under_way.add(key)
    return landed


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
