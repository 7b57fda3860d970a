"""A Round: one user query to its answer. A Conversation: all rounds of a session."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from roles_runtime.errors import DocumentError
from roles_runtime.posts.attachment import Json
from roles_runtime.posts.ids import create_id, reload_id
from roles_runtime.posts.post import USER, Post, RoleName


class RoundState(StrEnum):
    """Where a round stands."""

    created = "created"
    finished = "finished"
    failed = "failed"


Reason = Literal["limit", "cancelled", "timeout", "stalled", "role_error", "interrupted"]
"""Why a round failed."""


class ArtifactRef(msgspec.Struct, frozen=True, gc=False):
    """A file that a round made.

    Attributes:
        path: Absolute path of the kept copy.
        mime: Its media type.
        name: The name its maker gave it.
        size_bytes: Its size.
        sha256: Of its content; the copy is content-addressed.
    """

    path: str
    mime: str
    name: str = ""
    size_bytes: int = 0
    sha256: str = ""


class Round(msgspec.Struct, gc=False):
    """One user query and the Posts up to its answer.

    Attributes:
        id: ``round-…``.
        user_query: What the user asked, with a first line naming the files that came with it.
        state: created, finished or failed.
        post_list: In journal order.
        reason: Why it failed, else None.
        detail: One line for the reader about the reason, else empty.
        artifacts: Files that came of it, in order.
        traceparent: W3C trace context of the round itself, or empty where nobody watched it. It stands in no document.
    """

    id: str
    user_query: str
    state: RoundState = RoundState.created
    post_list: list[Post] = msgspec.field(default_factory=list)
    reason: Reason | None = None
    detail: str = ""
    artifacts: list[ArtifactRef] = msgspec.field(default_factory=list)
    traceparent: str = ""

    @staticmethod
    def create(
        user_query: str,
        id: str | None = None,
        state: RoundState = RoundState.created,
        post_list: list[Post] | None = None,
    ) -> Round:
        """A new round."""
        return Round(id or "round-" + create_id(), user_query, state, [] if post_list is None else post_list)

    def add_post(self, post: Post) -> None:
        """Appends a Post."""
        self.post_list.append(post)

    def change_round_state(self, new_state: RoundState) -> None:
        """Moves the round to a state."""
        self.state = new_state

    @property
    def reply(self) -> Post | None:
        """The Post that answered the user: the last one to ``User`` of a finished round, else None."""
        if self.state is not RoundState.finished:
            return None
        return next((post for post in reversed(self.post_list) if post.send_to == USER), None)

    def to_dict(self) -> dict[str, Json]:
        """Keys id, user_query, state, post_list, in this order."""
        return {
            "id": self.id,
            "user_query": self.user_query,
            "state": self.state.value,
            "post_list": [post.to_dict() for post in self.post_list],
        }

    @staticmethod
    def from_dict(content: Mapping[str, object], *, keep_id: bool = False) -> Round:
        """Reads one from a document, with a new identity unless ``keep_id``.

        Raises:
            DocumentError: a field is missing or of the wrong type.
        """
        posts, query = content.get("post_list"), content.get("user_query")
        if posts is None:
            posts = []
        if not isinstance(query, str):
            raise DocumentError("round", "it needs a 'user_query', as text.")
        if not isinstance(posts, list) or not all(isinstance(each, Mapping) for each in posts):
            raise DocumentError("round", "'post_list' must be a list of posts, or null.")
        try:
            state = RoundState(str(content.get("state", RoundState.created)))
        except ValueError as error:
            raise DocumentError("round", "'state' must be created, finished or failed.") from error
        given = content.get("id")
        identity = given if keep_id and isinstance(given, str) else "round-" + reload_id()
        return Round(identity, query, state, [Post.from_dict(each, keep_id=keep_id) for each in posts])


class Conversation(msgspec.Struct, gc=False):
    """All rounds of a session, or an example of one.

    Attributes:
        id: ``conv-…``.
        rounds: In order.
        plugins: What an example says of the tools it needs; kept, not interpreted.
        roles: Every name that sent or received a Post, sorted; recomputed when loaded.
        enabled: Whether an example is used.
    """

    id: str
    rounds: list[Round] = msgspec.field(default_factory=list)
    plugins: list[Json] = msgspec.field(default_factory=list)
    roles: list[RoleName] = msgspec.field(default_factory=list)
    enabled: bool = True

    @staticmethod
    def create(rounds: list[Round] | None = None) -> Conversation:
        """A new conversation."""
        return Conversation("conv-" + create_id(), [] if rounds is None else rounds)

    def add_round(self, new_round: Round) -> None:
        """Appends a round."""
        self.rounds.append(new_round)

    def to_dict(self) -> dict[str, Json]:
        """Keys id, plugins, roles, enabled, rounds, in this order."""
        return {
            "id": self.id,
            "plugins": list(self.plugins),
            "roles": list(self.roles),
            "enabled": self.enabled,
            "rounds": [each.to_dict() for each in self.rounds],
        }

    @staticmethod
    def from_dict(content: Mapping[str, object], *, keep_id: bool = False) -> Conversation:
        """Reads one from a document, with a new identity unless ``keep_id``; ``roles`` is recomputed.

        Raises:
            DocumentError: ``enabled`` or ``rounds`` is missing, or anything has the wrong type.
        """
        rounds, enabled, plugins = content.get("rounds"), content.get("enabled"), content.get("plugins") or []
        if not isinstance(enabled, bool) or not isinstance(rounds, list):
            raise DocumentError("conversation", "it needs 'enabled' (true or false) and 'rounds' (a list).")
        if not all(isinstance(each, Mapping) for each in rounds):
            raise DocumentError("conversation", "'rounds' must be a list of rounds.")
        if not isinstance(plugins, list):
            raise DocumentError("conversation", "'plugins' must be a list.")
        loaded = [Round.from_dict(each, keep_id=keep_id) for each in rounds]
        names = {name for each in loaded for post in each.post_list for name in (post.send_from, post.send_to)}
        given = content.get("id")
        identity = given if keep_id and isinstance(given, str) else "conv-" + reload_id()
        return Conversation(identity, loaded, plugins, sorted(names), enabled)

    @staticmethod
    def from_yaml(path: str | Path, *, keep_id: bool = False) -> Conversation:
        """Reads one from a file of at most 1 MiB, with a new identity unless ``keep_id``.

        Raises:
            DocumentError: it can not be read, is no such YAML, or has the wrong shape; the error names the file.
        """
        # Here, because a team that loads no document should not wait for a YAML parser.
        from roles_runtime.posts.documents import read_yaml

        document = read_yaml(path)
        try:
            return Conversation.from_dict(document, keep_id=keep_id)
        except DocumentError as error:
            raise DocumentError(f"{path}: {error.where}", error.problem) from error

    def to_yaml(self, path: str | Path) -> None:
        """Writes it in place of what stood there, at once or not at all; ``from_yaml`` reads it back.

        Raises:
            DocumentError: it holds text that no file can keep.
            OSError: the folder is missing or can not be written.
        """
        from roles_runtime.posts.documents import write_yaml

        write_yaml(path, self.to_dict())
