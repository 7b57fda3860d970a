"""Examples: conversations that show a model how its role speaks."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from roles_runtime.errors import DocumentError
from roles_runtime.posts.conversation import Conversation
from roles_runtime.posts.post import RoleName


def load_examples(
    folder: str | Path, role_set: Collection[RoleName] | None = None, sub_path: str = ""
) -> list[Conversation]:
    """The enabled examples of a folder (``*.yaml``, by name) in which only these roles speak.

    Args:
        folder: Where they are.
        role_set: Who may appear in them, ``User`` included; None for anyone.
        sub_path: A folder inside ``folder`` to read instead of it.

    Raises:
        DocumentError: the folder is missing, ``sub_path`` leads out of it, or a file is no example.
    """
    root = Path(folder)
    chosen = root / sub_path
    # A sub path comes out of shared memory, where a model may have written it.
    if not chosen.resolve().is_relative_to(root.resolve()):
        raise DocumentError(str(folder), f"{sub_path!r} leads out of the folder of examples.")
    if not chosen.is_dir():
        raise DocumentError(str(chosen), "there is no such folder of examples; make it, or name another.")
    allowed = None if role_set is None else frozenset(role_set)
    loaded = (Conversation.from_yaml(path) for path in sorted(chosen.glob("*.yaml")))
    return [each for each in loaded if each.enabled and (allowed is None or allowed.issuperset(each.roles))]
