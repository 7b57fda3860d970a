"""Several Posts in flight: the leader asks two workers at once, and goes on when both have answered."""

from collections.abc import Sequence

import anyio

from roles_runtime import Post, Role, Runtime, Team, Turn


class Editor(Role):
    name = "Editor"

    async def reply(self, turn: Turn) -> Post | Sequence[Post]:
        if turn.post.send_from == "User":
            return [turn.answer(turn.post.message, "Optimist"), turn.answer(turn.post.message, "Sceptic")]
        views = "; ".join(f"{post.send_from}: {post.message}" for post in turn.posts)
        return turn.answer(views, "User")


class Worker(Role):
    def __init__(self, name: str, view: str, takes_s: float) -> None:
        self.name, self.view, self.takes_s = name, view, takes_s

    async def reply(self, turn: Turn) -> Post:
        await anyio.sleep(self.takes_s)
        return turn.answer(self.view)


async def main() -> None:
    team = Team(Editor(), [Worker("Optimist", "it will work", 0.2), Worker("Sceptic", "show me", 0.1)])
    async with Runtime(team, kernels=None) as runtime:
        session = await runtime.session()
        answered = await session.ask("Shall we ship it?")
        print(answered.reply.message if answered.reply else answered.detail)


if __name__ == "__main__":
    anyio.run(main)
