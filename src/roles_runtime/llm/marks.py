"""Marks in a prompt, by which a model tells its parts apart: an LLM as it reads, fixed rules by the very texts."""

from __future__ import annotations

CONVERSATION_START = "Let's start the new conversation!"
"""Stands before the first message of a conversation; what comes before it are examples."""

REMINDER_START, REMINDER_END = "<reminder>\n", "\n</reminder>"
"""Stand round what nobody of the team said: the role is reminded of something."""
