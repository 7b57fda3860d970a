"""An asyncio actor runtime for teams of agent roles. Nothing inside the house imports this front door."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roles_runtime.errors import RolesError
    from roles_runtime.kernels.kernel import Execution
    from roles_runtime.llm.model import Finish, Model, TextChunk, ToolCallChunk
    from roles_runtime.llm.providers.scripted import ScriptedModel
    from roles_runtime.llm.request import LLMRequest
    from roles_runtime.posts.attachment import Attachment, AttachmentType, register_attachment_type
    from roles_runtime.posts.conversation import Conversation, Round, RoundState
    from roles_runtime.posts.event import ApprovalAsked, Event, PostSent, RoundClosed, TaskChanged
    from roles_runtime.posts.post import Post
    from roles_runtime.posts.shared import SharedMemoryEntry
    from roles_runtime.roles.code_interpreter import CodeInterpreter
    from roles_runtime.roles.echo import Echo
    from roles_runtime.roles.middleware.approval import Approval
    from roles_runtime.roles.middleware.compaction import Compaction
    from roles_runtime.roles.middleware.limits import UsageLimits
    from roles_runtime.roles.middleware.plan_tasks import PlanTasks
    from roles_runtime.roles.middleware.results import ResultReduction
    from roles_runtime.roles.planner import Planner
    from roles_runtime.roles.role import ModelRole, Role
    from roles_runtime.roles.turn import Middleware, Respond, Turn
    from roles_runtime.runtime.limits import Limits
    from roles_runtime.runtime.runtime import Runtime
    from roles_runtime.runtime.session import Session
    from roles_runtime.runtime.team import Team
    from roles_runtime.telemetry.telemetry import Telemetry
    from roles_runtime.tools.tool import Tool, tool

# A name is imported when it is first asked for, so that `import roles_runtime` costs little more than its ground.
_HOMES = {
    "Approval": "roles.middleware.approval",
    "ApprovalAsked": "posts.event",
    "Attachment": "posts.attachment",
    "AttachmentType": "posts.attachment",
    "CodeInterpreter": "roles.code_interpreter",
    "Compaction": "roles.middleware.compaction",
    "Conversation": "posts.conversation",
    "Echo": "roles.echo",
    "Event": "posts.event",
    "Execution": "kernels.kernel",
    "Finish": "llm.model",
    "LLMRequest": "llm.request",
    "Limits": "runtime.limits",
    "Middleware": "roles.turn",
    "Model": "llm.model",
    "ModelRole": "roles.role",
    "PlanTasks": "roles.middleware.plan_tasks",
    "Planner": "roles.planner",
    "Post": "posts.post",
    "PostSent": "posts.event",
    "Respond": "roles.turn",
    "ResultReduction": "roles.middleware.results",
    "Role": "roles.role",
    "RolesError": "errors",
    "Round": "posts.conversation",
    "RoundClosed": "posts.event",
    "RoundState": "posts.conversation",
    "Runtime": "runtime.runtime",
    "ScriptedModel": "llm.providers.scripted",
    "Session": "runtime.session",
    "SharedMemoryEntry": "posts.shared",
    "TaskChanged": "posts.event",
    "Team": "runtime.team",
    "Telemetry": "telemetry.telemetry",
    "TextChunk": "llm.model",
    "Tool": "tools.tool",
    "ToolCallChunk": "llm.model",
    "Turn": "roles.turn",
    "UsageLimits": "roles.middleware.limits",
    "register_attachment_type": "posts.attachment",
    "tool": "tools.tool",
}

__all__ = [
    "Approval",
    "ApprovalAsked",
    "Attachment",
    "AttachmentType",
    "CodeInterpreter",
    "Compaction",
    "Conversation",
    "Echo",
    "Event",
    "Execution",
    "Finish",
    "LLMRequest",
    "Limits",
    "Middleware",
    "Model",
    "ModelRole",
    "PlanTasks",
    "Planner",
    "Post",
    "PostSent",
    "Respond",
    "ResultReduction",
    "Role",
    "RolesError",
    "Round",
    "RoundClosed",
    "RoundState",
    "Runtime",
    "ScriptedModel",
    "Session",
    "SharedMemoryEntry",
    "TaskChanged",
    "Team",
    "Telemetry",
    "TextChunk",
    "Tool",
    "ToolCallChunk",
    "Turn",
    "UsageLimits",
    "register_attachment_type",
    "tool",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("roles-runtime")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
