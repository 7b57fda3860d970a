"""Files that come with a question: copied into the workspace, and looked at once, in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from roles_runtime.kernels.profile import profile_code, read_profiles
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import FileProfile, FileProfiles, SharedMemoryEntry
from roles_runtime.runtime.cells import JournaledKernel
from roles_runtime.runtime.ground import Home


async def take_files(session: Home, files: Sequence[str | Path]) -> tuple[str, ...]:
    """Copies files into the workspace; returns the names by which code opens them.

    Raises:
        WorkspaceError: one of them can not be taken; none is used then.
    """
    return tuple([await to_thread.run_sync(session.workspace.add, Path(path)) for path in files])


async def profile_files(session: Home, round_id: str, names: Sequence[str]) -> Attachment:
    """The shared memory entry with the profiles of all files of the session so far.

    Raises:
        KernelError: there is no kernel to look at them with.
    """
    kernel = JournaledKernel(session, USER, round_id, lambda: f"{round_id}/files")
    execution = await kernel.execute(profile_code(names))
    fresh = read_profiles(execution).files
    known = {profile.name: profile for profile in _known(session)} | {profile.name: profile for profile in fresh}
    content = FileProfiles(tuple(known.values())).to_json()
    entry = SharedMemoryEntry.create("file_profile", "conversation", content)
    return Attachment.create(AttachmentType.shared_memory_entry, "profiles of " + ", ".join(known), extra=entry)


def _known(session: Home) -> tuple[FileProfile, ...]:
    for each in reversed(session.conversation.rounds):
        for post in each.post_list[:1]:
            for attachment in post.get_attachment(AttachmentType.shared_memory_entry):
                entry = attachment.extra
                if isinstance(entry, SharedMemoryEntry) and entry.type == "file_profile":
                    return FileProfiles.from_json(entry.content).files
    return ()
