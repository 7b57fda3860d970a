"""The bounds of a session: every wait and every loop has one."""

from __future__ import annotations

import msgspec

from roles_runtime.errors import ConfigError


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds; all times in seconds, all sizes in bytes.

    Attributes:
        max_internal_chat_round_num: Replies a round may have, self-sends included; the one that hits it is kept.
        max_self_corrections: Self-corrections of one role in one round.
        turn_timeout_s: One turn.
        round_timeout_s: One round.
        cell_timeout_s: One cell of the kernel.
        grace_s: How long a role that is cancelled may take to end before it is abandoned.
        max_queued_asks: Questions that may wait while a round runs.
        session_idle_s: How long an idle session is kept in memory.
        large_post_bytes: Above it the text of a Post becomes an artifact with a preview.
        max_post_bytes: Above it a Post is refused.
    """

    max_internal_chat_round_num: int = 10
    max_self_corrections: int = 3
    turn_timeout_s: float = 300.0
    round_timeout_s: float = 1800.0
    cell_timeout_s: float = 120.0
    grace_s: float = 5.0
    max_queued_asks: int = 100
    session_idle_s: float = 900.0
    large_post_bytes: int = 256 << 10
    max_post_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            least = 0 if name in ("max_self_corrections", "max_queued_asks") else 1e-3
            if not least <= value < float("inf"):
                raise ConfigError("limits", name, f"{value} is out of range; it must be at least {least} and finite.")
