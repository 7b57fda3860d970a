"""Files in, plot out: the embedded rules model writes pandas code, a sandboxed kernel runs it."""

from pathlib import Path

import anyio

from roles_runtime import CodeInterpreter, Planner, Runtime, Team

ORDERS = Path(__file__).parent / "data" / "orders.csv"


async def main() -> None:
    team = Team(Planner(model="rules"), [CodeInterpreter(model="rules")])
    async with Runtime(team) as runtime:
        session = await runtime.session()
        answered = await session.ask("Total sales by region, and plot them", files=[ORDERS])
        print(answered.reply.message if answered.reply else answered.detail)
        for artifact in answered.artifacts:
            print(artifact.mime, artifact.path)


if __name__ == "__main__":
    anyio.run(main)
