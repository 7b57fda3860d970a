"""What the user configured.

Of each setting the first of these that says it counts:

1. the command line (``--model``, ``--store``, ``--data-dir``, ``--verbose``),
2. the environment: ``ROLES_`` and the key in capitals, ``__`` between a section and its key (``ROLES_MODEL``,
   ``ROLES_LIMITS__TURN_TIMEOUT_S``),
3. the file of ``--team``, which is never looked for unasked,
4. the default.

The environment is read here, and below for keys (`llm.keys`) and OTEL_* (`telemetry.environment`) alone.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args, get_origin

import msgspec
import structlog
from platformdirs import user_data_path
from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from roles_runtime.apps.sections import (
    KernelSettings,
    Layer,
    McpSettings,
    ModelNames,
    ProviderSettings,
    RoleSettings,
    Section,
    TelemetrySettings,
)
from roles_runtime.errors import ConfigError
from roles_runtime.runtime.limits import Limits
from roles_runtime.tools.tasks.words import Language

log = structlog.get_logger(__name__)

DEFAULT_MODEL = "rules"
"""The model of roles that name none, where nobody says another."""

MAX_BYTES = 1 << 20
"""A larger team file is refused."""

_PREFIX = "ROLES_"

Key: TypeAlias = tuple[str | int, ...]
"""Where a setting stands: ``("role", 1, "model")``."""


# The bounds are said once, by the runtime; what they may be is checked there too.
_LIMITS: dict[str, Any] = {field.name: (field.type | None, None) for field in msgspec.structs.fields(Limits)}
LimitSettings = create_model("LimitSettings", __base__=Section, **_LIMITS)


class Settings(Section):
    """All that can be configured; the keys of a team file.

    Attributes:
        role: The roster; a Planner and a CodeInterpreter where left out.
        leader: Name of the role whose Post to User closes the round; the first one where left out.
        model: ``provider:model`` of roles that name none, or a list of these to fall back on.
        provider: How providers are reached, by the name before a model's colon.
        middleware: Round every turn, the first outermost: each a name, or a table with its type and options. Where left
            out, what a `Team` has by default.
        language: What the team's models are told in: ``en`` or ``zh``; English where left out.
        store: URL of the store; a SQLite file in the data folder where left out.
        data_dir: Where sessions keep their files; the user's data folder where left out.
        limits: See `roles_runtime.runtime.limits.Limits`.
        mcp: Servers of the Model Context Protocol by name; a role says by its own ``mcp`` what it may call of them.
        kernel, telemetry: Sections.
    """

    role: list[RoleSettings] = Field(default_factory=list)
    leader: str | None = None
    model: ModelNames = DEFAULT_MODEL
    provider: dict[str, ProviderSettings] = Field(default_factory=dict)
    middleware: list[Layer] | None = None
    language: Language | None = None
    store: str | None = None
    data_dir: str | None = None
    limits: LimitSettings = LimitSettings()  # type: ignore[valid-type]
    mcp: dict[str, McpSettings] = Field(default_factory=dict)
    kernel: KernelSettings = KernelSettings()
    telemetry: TelemetrySettings = TelemetrySettings()


class _Layered(Settings, BaseSettings):
    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)


def _above(document: dict[str, Any]) -> type[_Layered]:
    """Settings with the layers above the team file, which is this document."""

    class Layered(_Layered):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            *_: Any,
            **__: Any,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, document)

    return Layered


class Config:
    """Settings, and for each of them where it was said.

    Attributes:
        settings: What counts.
    """

    def __init__(self, settings: Settings, layers: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        self.settings = settings
        self._layers = layers

    @property
    def data_dir(self) -> Path:
        """Where the sessions' files, the store and the chat's history are."""
        given = self.settings.data_dir
        return Path(given).expanduser() if given else user_data_path("roles_runtime", ensure_exists=False)

    @property
    def store(self) -> str:
        """URL of the store."""
        return self.settings.store or f"sqlite:///{self.data_dir.absolute() / 'roles.db'}"

    @property
    def providers(self) -> frozenset[str]:
        """The names before the colon of all models that are named."""
        named = [self.settings.model, *(role.model for role in self.settings.role if role.model is not None)]
        models = [name for each in named for name in ([each] if isinstance(each, str) else each)]
        return frozenset(name.partition(":")[0] for name in models)

    @property
    def limits(self) -> Limits:
        """The bounds.

        Raises:
            ConfigError: one of them is out of range.
        """
        given = self.settings.limits.model_dump(exclude_none=True)  # type: ignore[attr-defined]
        try:
            return Limits(**given)
        except ConfigError as error:
            raise self.wrong(("limits", error.key), error.problem) from error

    def wrong(self, key: Key, problem: str) -> ConfigError:
        """The error that says where the user wrote what is wrong."""
        return _wrong(self._layers, key, problem)


def read_config(
    team: Path | None = None,
    *,
    model: str | None = None,
    store: str | None = None,
    data_dir: str | None = None,
    log_level: str | None = None,
    trace: bool | None = None,
) -> Config:
    """Reads the configuration.

    Args:
        team: The file of ``--team``, or None.
        model: Said on the command line, or None; so the next ones.
        store: A URL.
        data_dir: A folder.
        log_level: See `TelemetrySettings`.
        trace: So too.

    Raises:
        ConfigError: something is wrong at one key.
    """
    document = {} if team is None else read_team_file(team)
    file = "settings" if team is None else str(team)
    options: dict[str, Any] = {"model": model, "store": store, "data_dir": data_dir}
    said = {name: value for name, value in options.items() if value is not None}
    telemetry = {name: value for name, value in {"log": log_level, "trace": trace}.items() if value is not None}
    if telemetry:
        said["telemetry"] = telemetry

    try:
        environment = EnvSettingsSource(_Layered)()
        layers = [("command line", said), ("environment", environment), (file, document)]
        # A file has types, so that it is held to them; the environment has only text.
        Settings.model_validate(document, strict=True)
        settings = _above(document)(**said)
    except SettingsError as error:
        raise ConfigError("environment", f"{_PREFIX}*", f"{error.__cause__ or error}; it is no JSON.") from error
    except ValidationError as error:
        raise _first(error, layers) from error
    _tell_unknown_variables()
    return Config(settings, layers)


def read_team_file(path: Path) -> dict[str, Any]:
    """Reads a team file.

    Raises:
        ConfigError: it can not be read, or is no TOML.
    """
    where = str(path)
    try:
        # A pipe or a device under that name must not hold us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise ConfigError(where, "file", "it is no regular file; name a team file in TOML.")
        with open(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(where, "file", f"it can not be read: {problem}.") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(where, "file", f"it is larger than {MAX_BYTES:,} bytes.")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(where, f"line {line}", "it is not UTF-8; save the file as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(where, "file", f"it is no TOML: {error}.") from error


def shown_key(key: Key) -> str:
    """A key as people write it: ``role[1].model``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return text.removeprefix(".")


def suggestion(name: str, known: Sequence[str]) -> str:
    """``did you mean …?`` where something known is near, else what there is."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."


def _wrong(layers: Sequence[tuple[str, Mapping[str, object]]], key: Key, problem: str) -> ConfigError:
    where = next((name for name, values in layers if _stands(values, key)), layers[-1][0])
    if where == "environment":
        depth = 2 if isinstance(key[1:2][0] if len(key) > 1 else 0, str) else 1
        shown = _PREFIX + "__".join(str(part).upper() for part in key[:depth])
    elif where == "command line":
        shown = "--" + str(key[0]).replace("_", "-")
    else:
        shown = shown_key(key)
    return ConfigError(where, shown, problem)


def _stands(values: object, key: Key) -> bool:
    for part in key:
        if isinstance(values, Mapping):
            stands = part in values
        else:
            stands = isinstance(values, Sequence) and isinstance(part, int) and part < len(values)
        if not stands:
            return False
        values = values[part]  # type: ignore[index]
    return True


def _first(error: ValidationError, layers: Sequence[tuple[str, Mapping[str, object]]]) -> ConfigError:
    found = error.errors()[0]
    key: Key = found["loc"]
    match found["type"]:
        case "extra_forbidden":
            return _wrong(layers, key, f"there is no such key; {suggestion(str(key[-1]), _known_at(key))}")
        case "missing":
            return _wrong(layers, key[:-1], f"it needs a {key[-1]!r}.")
    # Where a value is a list or a section, the text of pydantic says what it must be; it ends without a full stop.
    given = "" if _may_be_secret(key) else f", not {found['input']!r:.60}"
    return _wrong(layers, key, f"{found['msg'].removeprefix('Value error, ')}{given}.")


_PLAIN = frozenset({"context_window", "temperature", "top_p", "max_tokens", "effort"})
"""What of a provider's section may be repeated in an error."""


def _may_be_secret(key: Key) -> bool:
    """Whether a key of a provider or a server may stand there, be it by mistake."""
    return key[:1] == ("mcp",) or (key[:1] == ("provider",) and _PLAIN.isdisjoint(key[2:3]))


def _known_at(key: Key) -> list[str]:
    section: Any = Settings
    for part in key[:-1]:
        # A section whose keys are the user's own names is a dict of sections.
        section = get_args(section)[1] if get_origin(section) is dict else section.model_fields[str(part)].annotation
    return list(cast("type[BaseModel]", section).model_fields)


def _tell_unknown_variables() -> None:
    for name in os.environ:
        head = name.removeprefix(_PREFIX).partition("__")[0].lower()
        if name.startswith(_PREFIX) and head not in Settings.model_fields:
            known = [_PREFIX + field.upper() for field in Settings.model_fields]
            log.warning("an environment variable is no setting", variable=name, known=", ".join(known))
