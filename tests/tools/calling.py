"""Somebody who calls tools: keeps what is shown meanwhile."""

from __future__ import annotations

from pathlib import Path

from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.posts.event import PassingEvent
from roles_runtime.tools.caller import Caller
from roles_runtime.tools.toolbox import Toolbox


def a_caller(call_id: str = "call-1", shown: list[PassingEvent] | None = None) -> Caller:
    """The Caller of one call."""
    kept: list[PassingEvent] = [] if shown is None else shown
    return Caller("session", "round", "Tester", call_id, Workspace(Path("nowhere")), kept.append)


def called(name: str, arguments: str = "", call_id: str = "call-1") -> ToolCall:
    """A model's wish."""
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def caller_of(call: ToolCall) -> Caller:
    """Who makes a call."""
    return a_caller(call.call_id)


async def answer(toolbox: Toolbox, name: str, arguments: str = "") -> ToolReturn:
    """What a model is told of one call."""
    return (await toolbox.call(called(name, arguments), a_caller())).returned
