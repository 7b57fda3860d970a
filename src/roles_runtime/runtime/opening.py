"""How a round begins: RoundOpened and the user's Post, then its turns, all in the round's own task."""

from __future__ import annotations

import asyncio

from roles_runtime.posts.conversation import Round, RoundState
from roles_runtime.posts.event import PostSent
from roles_runtime.posts.post import USER, Post, seal
from roles_runtime.runtime.active import ActiveRound
from roles_runtime.runtime.large import shrink, size_bytes
from roles_runtime.runtime.router import hand_over
from roles_runtime.runtime.supervisor import give_up, play
from roles_runtime.runtime.uploads import pictures_of, profile_files


async def run_round(active: ActiveRound, files: tuple[str, ...], record: Round) -> None:
    """Runs a whole round. Never raises: what goes wrong is the round's reason, or its ``failure``.

    Args:
        active: The round.
        files: Names of the workspace's files that came with the question.
        record: ``active.round``, as a coat round this function sees it.
    """
    try:
        await _open(active, record, files)
    except asyncio.CancelledError:
        if active.is_open:
            await active.write_end(active.closing(RoundState.failed, "cancelled", "The round was cancelled."))
        active.end()
    except Exception as error:
        await give_up(active, error)
        active.end()
    else:
        await play(active)


async def _open(active: ActiveRound, record: Round, files: tuple[str, ...]) -> None:
    session, leader = active.session, active.team.leader.name
    post = Post.create(record.user_query, USER, leader)
    if session.unprofiled and session.ground.kernels is not None:
        opening, active.opening = active.opening, []
        await session.journal.append(opening)
        for attachment in await profile_files(session, record.id, files):
            post.add_attachment(attachment)
    for attachment in await pictures_of(session, files):
        post.add_attachment(attachment)
    if size_bytes(post) > active.limits.large_post_bytes:
        await shrink(post, session.workspace, active.limits, USER)
    seal(post)
    record.post_list.append(post)
    active.open_actor(leader)
    active.actors[leader].sending = (post,)
    opening, active.opening = active.opening, []
    await session.journal.append([*opening, (PostSent(record.id, post), f"{record.id}/{post.id}")])
    session.unprofiled = ()
    if active.is_open:
        await hand_over(active, leader, (post,), 1)
        active.actors[leader].sending = ()
