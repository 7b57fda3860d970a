"""A model's name becomes a Model, or an error that says why not."""

from __future__ import annotations

import pytest

from roles_runtime.errors import ModelError, PluginNotFoundError
from roles_runtime.llm.model import Usage
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.llm.resolving import resolve_model


def test_a_model_is_given_back_as_it_is() -> None:
    model = ScriptedModel([])
    assert resolve_model(model) is model


@pytest.mark.parametrize("name", ["nobody:gpt", "", ":x", "scripted x"])
def test_an_unknown_provider_is_told_with_those_there_are(name: str) -> None:
    with pytest.raises(PluginNotFoundError, match="scripted"):
        resolve_model(name)


def test_a_provider_without_such_a_model_says_so() -> None:
    with pytest.raises(ModelError, match=r"scripted:nowhere\.yaml: the script"):
        resolve_model("scripted:nowhere.yaml")


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 1) + Usage(3, 4, 1) == Usage(4, 6, 2)
