"""Files that come with a question: copied into the workspace, and looked at once, in the sandbox."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from anyio import to_thread

from roles_runtime.errors import KernelError, WorkspaceError
from roles_runtime.kernels.kernel import Kernel
from roles_runtime.kernels.profile import profile_code, read_profiles
from roles_runtime.llm.parts import PICTURES, mend_surrogates, sniff
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import USER
from roles_runtime.posts.shared import FileProfile, FileProfiles, SharedMemoryEntry
from roles_runtime.runtime.ground import Home
from roles_runtime.runtime.logs import get_logger

_HEAD_BYTES = 32

log = get_logger(__name__)


def paths_of(files: Sequence[str | Path]) -> tuple[Path, ...]:
    """The paths of files that come with a question.

    Raises:
        WorkspaceError: it is no list of paths. A single one is refused too: a text is a sequence, of its characters.
    """
    if isinstance(files, str | bytes | PurePath):
        shown = mend_surrogates(str(files))
        raise WorkspaceError(shown, f"files takes a list of paths: files=[{shown!r}].")
    try:
        given = tuple(files or ())
    except TypeError as error:
        raise WorkspaceError(repr(files), 'files takes a list of paths: files=["data.csv"].') from error
    return tuple([_path_of(each) for each in given])


def _path_of(file: str | Path) -> Path:
    if not isinstance(file, str | PurePath):
        raise WorkspaceError(repr(file), 'it is no path; name each file by text or by a Path: files=["data.csv"].')
    try:
        os.fsencode(file)
    except UnicodeEncodeError as error:
        raise WorkspaceError(
            mend_surrogates(str(file)), "it is no path; a character in it can not stand in one."
        ) from error
    return Path(file)


async def take_files(session: Home, paths: Sequence[Path]) -> tuple[str, ...]:
    """Copies files into the workspace; returns the names by which code opens them.

    Raises:
        WorkspaceError: one of them can not be taken; none is used then.
    """
    return tuple([await to_thread.run_sync(session.workspace.add, path) for path in paths])


async def pictures_of(session: Home, names: Sequence[str]) -> tuple[Attachment, ...]:
    """An ``image_url`` attachment for each file that is a picture by its first bytes, for models that see."""

    def found() -> list[str]:
        shown = []
        for name in names:
            with suppress(WorkspaceError), session.workspace.open(name) as file:
                if sniff(file.read(_HEAD_BYTES)) in PICTURES:
                    shown.append(name)
        return shown

    pictures = await to_thread.run_sync(found) if names else []
    return tuple([Attachment.create(AttachmentType.image_url, name) for name in pictures])


async def profile_files(session: Home, round_id: str, names: Sequence[str]) -> tuple[Attachment, ...]:
    """The shared memory entry with the profiles of all files of the session so far.

    Files of earlier questions whose profile was interrupted are looked at once more, and first, in a cell of their
    own: what fails with them then is told to the log, and neither this question nor another waits for it.

    Args:
        session: Whose files.
        round_id: The round that opens.
        names: Of the files that came with its question.

    Returns:
        One attachment, or none where there is nothing new to tell.

    Raises:
        KernelError: there is no kernel to look at the question's own files with, or it could not.
    """
    kernel = session.kernel_for(USER, round_id, lambda: f"{round_id}/files")
    if kernel is None:
        return ()
    fresh: list[FileProfile] = []
    left = [name for name in session.unprofiled if name not in names]
    if left:
        try:
            fresh += await _profiles(kernel, left)
        except KernelError as error:
            if not session.runs(round_id):
                raise
            log.warning("files could not be looked at", session=session.id, files=left, problem=str(error))
    if names:
        fresh += await _profiles(kernel, names)
    if not fresh:
        return ()
    known = {profile.name: profile for profile in (*_known(session), *fresh)}
    content = FileProfiles(tuple(known.values())).to_json()
    entry = SharedMemoryEntry.create("file_profile", "conversation", content)
    return (Attachment.create(AttachmentType.shared_memory_entry, "profiles of " + ", ".join(known), extra=entry),)


async def _profiles(kernel: Kernel, names: Sequence[str]) -> tuple[FileProfile, ...]:
    return read_profiles(await kernel.execute(profile_code(names))).files


def _known(session: Home) -> tuple[FileProfile, ...]:
    for each in reversed(session.conversation.rounds):
        for post in each.post_list[:1]:
            for attachment in post.get_attachment(AttachmentType.shared_memory_entry):
                entry = attachment.extra
                if isinstance(entry, SharedMemoryEntry) and entry.type == "file_profile":
                    return FileProfiles.from_json(entry.content).files
    return ()
