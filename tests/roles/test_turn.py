"""A Turn is frozen: whoever wants another one derives it, and the first stays as it was."""

from __future__ import annotations

from roles.stage import Bench, Stage
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.memory.memory import Memory
from roles_runtime.posts.conversation import Conversation
from roles_runtime.posts.post import Post
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Turn


def test_another_model_kernel_memory_or_reminder_makes_another_turn() -> None:
    turn = Turn((Post.create("go", "User", "Echo"),), "User", "Echo", "s", "r", Stage(Echo()))
    model, kernel, memory = ScriptedModel([]), Bench(), Memory(Conversation.create())
    derived = turn.with_model(model).with_kernel(kernel).with_memory(memory).with_reminder("one").with_reminder("two")
    assert (derived.model, derived.kernel, derived.memory) == (model, kernel, memory)
    assert derived.reminders == ("one", "two")
    assert (turn.model, turn.kernel, turn.remembered, turn.reminders) == (None, None, None, ())
    assert derived.posts is turn.posts
