"""A role of your own: one method."""

import anyio

from roles_runtime import Post, Role, Runtime, Team, Turn


class Shouter(Role):
    name = "Shouter"
    intro = "Says it louder."

    async def reply(self, turn: Turn) -> Post:
        return turn.answer(turn.post.message.upper() + "!")


async def main() -> None:
    async with Runtime(Team(Shouter()), kernels=None) as runtime:
        session = await runtime.session()
        answered = await session.ask("good morning")
        print(answered.state, answered.reply)


if __name__ == "__main__":
    anyio.run(main)
