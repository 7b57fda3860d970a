"""What a role is reminded of beside the Posts: what its own turns thought and called, and the pictures it was sent."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import to_thread

from roles_runtime.errors import WorkspaceError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.llm.calls import Reasoning, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, IntermediateTrace, Message, ToolMessage
from roles_runtime.llm.parts import PICTURES, ImagePart, Media, TextPart
from roles_runtime.memory.memory import Memory
from roles_runtime.memory.traces import TurnTrace
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.event import ModelReplied, ToolReturned
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.roles.turn import Turn

MAX_PICTURES = 20
"""How many pictures a prompt shows, the latest; the words of the others stay."""

MAX_PICTURE_BYTES = 5 << 20
"""The largest picture that is shown; providers take no more."""

Shown = ImagePart | TextPart


class Recalled:
    """What one role is reminded of. Nothing of a trace is decoded before it is asked for."""

    def __init__(self, memory: Memory | None, role: RoleName, pictures: Mapping[str, Shown]) -> None:
        self._memory, self._role, self._pictures = memory, role, pictures

    def trace(self, post_id: str) -> IntermediateTrace | None:
        """What the turn that answered that Post called and got back; None where it called nothing."""
        found = self._found(post_id)
        if found is None:
            return None
        records = _records(found)
        return IntermediateTrace(records=records, dropped=found.dropped) if records else None

    def thoughts(self, post_id: str) -> tuple[Reasoning, ...]:
        """What was thought before the answer itself, after the last result of a call."""
        found = self._found(post_id)
        last = found.groups[-1][-1] if found is not None and found.groups else None
        if not isinstance(last, ModelReplied):
            return ()
        message = AssistantTextMessage.model_validate_json(last.message)
        return () if message.tool_calls else message.reasoning

    def pictures(self, post: Post) -> tuple[Shown, ...]:
        """The pictures that a Post carries, or words about those that can not be shown."""
        carried = post.get_attachment(AttachmentType.image_url)
        return tuple(self._pictures[each.id] for each in carried if each.id in self._pictures)

    def _found(self, post_id: str) -> TurnTrace | None:
        return None if self._memory is None else self._memory.get_trace(self._role, post_id)


NOTHING = Recalled(None, "", {})
"""For examples, which nobody of the team said."""


async def recall(turn: Turn) -> Recalled:
    """Reads the pictures that were sent to the turn's role through the workspace, off the event loop."""
    carried = turn.memory.get_attachments(turn.role, AttachmentType.image_url)
    pictures: dict[str, Shown] = {}
    if carried:
        pictures = await to_thread.run_sync(_read_pictures, turn.workspace, carried)
    return Recalled(turn.memory, turn.role, pictures)


def _read_pictures(workspace: Workspace, carried: list[Attachment]) -> dict[str, Shown]:
    latest = len(carried) - MAX_PICTURES
    return {
        each.id: _picture(workspace, each) if index >= latest else _words(each, "no longer shown")
        for index, each in enumerate(carried)
    }


def _picture(workspace: Workspace, attachment: Attachment) -> Shown:
    """A URL is handed on as it is; anything else is a file of the workspace."""
    where = attachment.content.strip()
    try:
        if where.startswith(("http://", "https://")):
            return ImagePart(media=Media(url=where, mime="image/*"), detail=_detail(attachment))
        with workspace.open(where) as file:
            data = file.read(MAX_PICTURE_BYTES + 1)
    except (WorkspaceError, OSError, ValueError) as error:
        return _words(attachment, str(error))
    if len(data) > MAX_PICTURE_BYTES:
        return _words(attachment, f"larger than {MAX_PICTURE_BYTES:,} bytes")
    media = Media(data=data, name=where)
    if media.mime not in PICTURES:
        return _words(attachment, "it is no picture")
    return ImagePart(media=media, detail=_detail(attachment))


def _detail(attachment: Attachment) -> str:
    detail = attachment.extra.get("detail") if isinstance(attachment.extra, dict) else None
    return detail if isinstance(detail, str) else ""


def _words(attachment: Attachment, problem: str) -> TextPart:
    return TextPart(text=_detail(attachment) or f"[picture {attachment.content.strip()[:200]}: {problem}]")


def _records(trace: TurnTrace) -> tuple[Message, ...]:
    """Each answer with calls, and the results of these in their order, as one message."""
    records: list[Message] = []
    for first, *rest in trace.groups:
        if not isinstance(first, ModelReplied):
            continue
        message = AssistantTextMessage.model_validate_json(first.message)
        if not message.tool_calls:
            continue
        records.append(message)
        results = tuple(ToolReturn.model_validate_json(each.result) for each in rest if isinstance(each, ToolReturned))
        if results:
            records.append(ToolMessage(tool_reses=results, creator=first.role))
    return tuple(records)
