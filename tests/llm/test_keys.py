"""Keys come from the user or the environment, and are told to nobody."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from roles_runtime.errors import ModelKeyError
from roles_runtime.llm.keys import find_key, in_header, needed_key, secret


def test_the_first_variable_that_holds_something_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEY_ONE", raising=False)
    monkeypatch.setenv("KEY_TWO", "  ")
    assert find_key("KEY_ONE", "KEY_TWO") is None
    monkeypatch.setenv("KEY_THREE", " abc\n")
    found = find_key("KEY_ONE", "KEY_TWO", "KEY_THREE")
    assert found is not None
    assert found.get_secret_value() == "abc"
    assert "abc" not in repr(found)


def test_what_the_user_gives_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_ONE", "environment")
    assert needed_key("a:b", secret("given"), "KEY_ONE").get_secret_value() == "given"
    assert needed_key("a:b", None, "KEY_ONE").get_secret_value() == "environment"


def test_a_missing_key_names_all_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("KEY_ONE", "KEY_TWO"):
        monkeypatch.delenv(each, raising=False)
    with pytest.raises(ModelKeyError, match="KEY_ONE or KEY_TWO"):
        needed_key("a:b", None, "KEY_ONE", "KEY_TWO")


@pytest.mark.parametrize("value", ["a b", "a\nb", "schlüssel", "a\x00b", "a\tb"])
def test_what_can_stand_in_no_header_is_refused_without_being_told(value: str) -> None:
    with pytest.raises(ModelKeyError) as caught:
        in_header("a:b", SecretStr(value))
    assert value not in str(caught.value)


def test_blanks_around_a_key_are_left_out() -> None:
    assert in_header("a:b", SecretStr(" abc\n")) == "abc"
