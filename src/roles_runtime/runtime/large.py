"""Large Posts: above a bound the text becomes an artifact with a preview, far above it the Post is refused."""

from __future__ import annotations

import msgspec
from anyio import to_thread

from roles_runtime.errors import PostRefusedError
from roles_runtime.kernels.workspace import Workspace
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import Post, RoleName
from roles_runtime.runtime.limits import Limits

PREVIEW = 2_000
"""Characters of a large text that stay in the Post."""


def size_bytes(post: Post) -> int:
    """The size of a Post, its texts by characters: one of other scripts counts for less than its bytes."""
    size = len(post.message)
    for attachment in post.attachment_list:
        size += len(attachment.content)
        if attachment.extra is not None:
            size += len(msgspec.json.encode(attachment.extra))
    return size


async def shrink(post: Post, workspace: Workspace, limits: Limits, sender: RoleName) -> None:
    """Moves each large text of a Post into an artifact; a preview and the artifact's path stay.

    Raises:
        PostRefusedError: it is larger than any Post may be.
        WorkspaceError: the text could not be written.
    """
    size = size_bytes(post)
    if size > limits.max_post_bytes:
        raise PostRefusedError(
            f"{sender} wrote a Post of {size >> 20} MiB, and {limits.max_post_bytes >> 20} MiB is the most; "
            "hand the data over as a file."
        )
    share = limits.large_post_bytes // (1 + len(post.attachment_list))
    if len(post.message) > share:
        post.message, path = await _moved(post.message, workspace, f"{post.id}.txt")
        post.add_attachment(Attachment.create(AttachmentType.artifact_paths, path))
    attachments = list(post.attachment_list)
    for n, attachment in enumerate(attachments):
        if len(attachment.content) > share:
            content, path = await _moved(attachment.content, workspace, f"{attachment.id}.txt")
            extra = attachment.extra
            if extra is None or isinstance(extra, dict):
                extra = {**(extra or {}), "artifact": path}
            # A new one in its place: it may be one that was received and is passed on, which is sealed.
            attachments[n] = Attachment(attachment.id, attachment.type, content, extra)
    post.attachment_list = attachments


async def _moved(text: str, workspace: Workspace, name: str) -> tuple[str, str]:
    content = text.encode("utf-8", "replace")
    kept = await to_thread.run_sync(workspace.keep_bytes, name, content, "text/plain")
    return f"{text[:PREVIEW]}\n… ({len(content)} bytes in all; the whole text is in {kept.path})", kept.path
