"""A scripted model: the whole team at work without any LLM, the same each time. For tests and recordings."""

import json

import anyio

from roles_runtime import Event, ModelRole, Planner, PostSent, Runtime, ScriptedModel, Team


def planner_says(step: str, stop: str, send_to: str, message: str) -> str:
    plan = "1. ask the Poet\n2. report"
    return json.dumps(
        {
            "response": {
                "plan_reasoning": "A poem is the Poet's work.",
                "init_plan": plan,
                "plan": plan,
                "current_plan_step": step,
                "stop": stop,
                "send_to": send_to,
                "message": message,
            }
        }
    )


SCRIPT = ScriptedModel(
    {
        "Planner": [
            planner_says("1. ask the Poet", "InProcess", "Poet", "Two lines on autumn, please."),
            planner_says("2. report", "Completed", "User", "Leaves let go; so may we."),
        ],
        "Poet": ["Leaves let go;\nso may we."],
    }
)


def show(event: Event) -> None:
    if isinstance(event, PostSent):
        print(event.post)


async def main() -> None:
    team = Team(Planner(model=SCRIPT), [ModelRole("Poet", intro="Writes poems.", model=SCRIPT)])
    async with Runtime(team, kernels=None) as runtime:
        session = await runtime.session()
        await session.ask("A poem on autumn", on_event=show)


if __name__ == "__main__":
    anyio.run(main)
