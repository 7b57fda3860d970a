"""Keys of providers: all that is read from the environment below the doors, and only when a call needs it."""

from __future__ import annotations

import os

from pydantic import SecretStr

from roles_runtime.errors import ModelKeyError


def secret(key: SecretStr | str | None) -> SecretStr | None:
    """The key as what no log and no repr tells."""
    return SecretStr(key) if isinstance(key, str) else key


def find_key(*variables: str) -> SecretStr | None:
    """The first of the variables that holds something; None where none does."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if value:
            return SecretStr(value)
    return None


def needed_key(model: str, given: SecretStr | None, *variables: str) -> SecretStr:
    """The key that was given, or that the environment has.

    Args:
        model: ``provider:model``, for the error.
        given: What the user gave; the environment is not looked at then.
        variables: Where else it is looked for, in this order.

    Raises:
        ModelKeyError: there is none.
    """
    key = given or find_key(*variables)
    if key is None:
        raise ModelKeyError(model, missing_key(*variables))
    return key


def missing_key(*variables: str) -> str:
    """What is said where there is none."""
    return f"it has no key: set {' or '.join(variables)} in the environment, or give api_key."


def in_header(model: str, key: SecretStr) -> str:
    """The key as it goes into a header.

    Raises:
        ModelKeyError: it can not stand in one; the transport would refuse it with words that hold it.
    """
    value = key.get_secret_value().strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ModelKeyError(model, "what was given as its key is none: it has blanks, or letters no key has.")
    return value
