"""A process of its own: many sessions of several rounds side by side over SQLite. Prints what it used, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import psutil

from roles_runtime import ModelRole, Runtime, ScriptedModel, Session, Team
from roles_runtime.llm.message import Message
from roles_runtime.llm.request import LLMRequest


def _last(messages: Sequence[Message]) -> str:
    return messages[-1].content


def lead(request: LLMRequest) -> str:
    """Hands a question to the worker, and its answer to the user: what comes follows from the last message alone."""
    said = _last(request.messages)
    send_to = "User" if said.startswith("From: Worker") else "Worker"
    return json.dumps({"response": {"send_to": send_to, "message": said.split("Message: ")[-1].strip()}})


def work(request: LLMRequest) -> str:
    return "answer to " + _last(request.messages).split("Message: ")[-1].strip()


def team() -> Team:
    model = ScriptedModel({"Lead": [lead] * 100, "Worker": [work] * 100})
    return Team(ModelRole("Lead", model=model), [ModelRole("Worker", intro="Works.", model=model)])


async def run(store: str, sessions: int, rounds: int) -> None:
    process = psutil.Process()
    resident: list[int] = []
    answers: dict[str, list[str]] = {}

    async def ask(session: Session, number: int) -> None:
        answered = await session.ask(f"question {number} of {session.id}")
        answers.setdefault(session.id, []).append(answered.reply.message if answered.reply else answered.detail)

    async with Runtime(team(), store=store, kernels=None) as runtime:
        opened = [await runtime.session(f"s-{n}") for n in range(sessions)]
        for number in range(1, rounds + 1):
            async with anyio.create_task_group() as group:
                for session in opened:
                    group.start_soon(ask, session, number)
            resident.append(process.memory_info().rss)
    json.dump({"resident": resident, "answers": answers}, sys.stdout)


async def restore(store: str, sessions: int) -> None:
    found: dict[str, object] = {}
    async with Runtime(team(), store=store, kernels=None) as runtime:
        for n in range(sessions):
            session = await runtime.session(f"s-{n}")
            found[session.id] = [
                [each.id, each.state, each.user_query, len(each.post_list), each.reply and each.reply.message]
                for each in session.rounds
            ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    what, path, count, *more = sys.argv[1:]
    url = f"sqlite:///{Path(path).absolute()}"
    anyio.run(run, url, int(count), int(more[0])) if what == "run" else anyio.run(restore, url, int(count))
