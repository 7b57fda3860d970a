"""Two sessions side by side: each has its own conversation, and both share the team."""

import anyio

from roles_runtime import Post, Role, Runtime, Session, Team, Turn


class Counter(Role):
    name = "Counter"

    async def reply(self, turn: Turn) -> Post:
        await anyio.sleep(0.1)  # both wait here at the same time
        rounds = turn.memory.get_role_rounds(self.name)
        return turn.answer(f"This is question {len(rounds)} of {turn.session_id}.", "User")


async def ask_twice(session: Session) -> None:
    for _ in range(2):
        answered = await session.ask("Which question is this?")
        print(answered.reply.message if answered.reply else answered.detail)


async def main() -> None:
    async with Runtime(Team(Counter()), kernels=None) as runtime, anyio.create_task_group() as group:
        for name in ("left", "right"):
            group.start_soon(ask_twice, await runtime.session(name))


if __name__ == "__main__":
    anyio.run(main)
