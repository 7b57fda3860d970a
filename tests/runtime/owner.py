"""Another process with the same store: ``python owner.py DATABASE SESSION WHAT``; it says what it did, line by line."""

from __future__ import annotations

import asyncio
import sys

from roles_runtime.errors import RolesError
from roles_runtime.posts.post import USER
from roles_runtime.roles.role import Role
from roles_runtime.roles.turn import Answer, Turn
from roles_runtime.runtime.runtime import Runtime
from roles_runtime.runtime.team import Team


class Planner(Role):
    name = "Planner"

    async def reply(self, turn: Turn) -> Answer:
        if turn.post.message == "wait":
            print("waiting", flush=True)
            await asyncio.sleep(60)
        rounds = turn.memory.get_role_rounds("Planner", include_failure_rounds=True)
        return turn.answer(f"{len(rounds)} rounds", USER)


async def main(database: str, session_id: str, what: str) -> None:
    async with Runtime(Team(Planner()), store=f"sqlite:///{database}", kernels=None) as runtime:
        try:
            session = await runtime.session(session_id)
            if what == "hold":
                print("open", flush=True)
                await asyncio.to_thread(sys.stdin.read)
                return
            round_ = await session.ask(what)
            ids = [post.id for each in session.rounds for post in each.post_list]
            print(
                f"{round_.state} {round_.reply.message if round_.reply else round_.reason} {' '.join(ids)}", flush=True
            )
        except RolesError as error:
            print(f"{type(error).__name__} {error}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
