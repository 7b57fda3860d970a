"""The sections of a team file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, SecretStr, field_validator

from roles_runtime.llm.http_connection import host_of
from roles_runtime.llm.options import ModelSettings, ProviderOptions
from roles_runtime.llm.request import Effort
from roles_runtime.telemetry.logs import Level


def _names(value: object) -> object:
    named = [value] if isinstance(value, str) else value
    if not (isinstance(named, list) and named and all(isinstance(each, str) for each in named)):
        raise ValueError("it should be provider:model, or a list of these")
    return value


ModelNames: TypeAlias = Annotated[str | list[str], BeforeValidator(_names)]
"""``provider:model``, or several to fall back on in this order."""


def _http_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("it must begin with http:// or https://")
    if not host_of(url):
        raise ValueError("it must be an address, as http://HOST:PORT")
    return url


class Section(BaseModel):
    """A section of a team file: every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProviderSettings(Section):
    """A ``[provider.NAME]``: how a provider is reached, and what its models are asked with.

    Attributes:
        type: An installed provider, where NAME is a name of your own (``[provider.local]`` with ``type = "openai"``).
        base_url: Where it is, if not at its usual place.
        api_key_env: The variable that holds its key, if not the usual one. The key itself stands in no file.
        context_window: Of its models, in tokens, where nobody else knows it.
        temperature, top_p, max_tokens, effort: What its models are asked with.
        params: Fields of the provider's own, put into each request as they are.
    """

    type: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    context_window: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    effort: Effort | None = None
    params: dict[str, JsonValue] = {}

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, base_url: str | None) -> str | None:
        return None if base_url is None else _http_url(base_url)

    @property
    def lacks_key(self) -> bool:
        """Whether the variable that is named holds nothing."""
        return self.api_key_env is not None and not os.environ.get(self.api_key_env, "").strip()

    def options(self, name: str) -> ProviderOptions:
        """What the provider is told.

        Args:
            name: That of the section: what stands before the colon of its models' names.
        """
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        return ProviderOptions(
            provider=self.type or name,
            label=name,
            base_url=self.base_url,
            api_key=SecretStr(key) if key else None,
            context_window=self.context_window,
            settings=ModelSettings(
                temperature=self.temperature,
                top_p=self.top_p,
                max_tokens=self.max_tokens,
                effort=self.effort,
                params=self.params,
            ),
        )


class Installed(BaseModel):
    """Something of an installed type. Keys beyond those that are known are options of that type.

    Attributes:
        type: Its name.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str

    @property
    def options(self) -> Mapping[str, object]:
        """The keys of its type alone."""
        return self.__pydantic_extra__ or {}


class MiddlewareSettings(Installed):
    """A middleware: ``{ type = "usage_limits", round_calls = 50 }``, or its name where it is given no options."""


def _table(value: object) -> object:
    if isinstance(value, str):
        return {"type": value}
    if not isinstance(value, Mapping | MiddlewareSettings):
        raise ValueError("it should be the name of a middleware, or a table with its type and options")
    return value


Layer: TypeAlias = Annotated[MiddlewareSettings, BeforeValidator(_table)]
"""An entry of ``middleware``."""


class RoleSettings(Installed):
    """A ``[[role]]``. Keys beyond these are options of its type.

    Attributes:
        type: An installed kind of role: ``planner``, ``code_interpreter``, ``echo``, ``model_role``, or yours.
        name: Its address; the type's own where left out.
        model: ``provider:model``, or a list of these to fall back on; the team's where left out.
        intro: What the leader is told about it.
        instructions: What its model is told, beside its prompt.
        tools: Names of installed ones.
        middleware: Round its turns, inside the team's: each a name, or a table with its type and options.
        examples: A folder of conversations in YAML.
        mcp: What it may call of each ``[mcp.NAME]``: ``{ files = ["read_file"] }``; ``["*"]`` for all there is.
    """

    name: str | None = None
    model: ModelNames | None = None
    intro: str | None = None
    instructions: str | None = None
    tools: list[str] = []
    middleware: list[Layer] = []
    examples: str | None = None
    mcp: dict[str, list[str]] = {}


class KernelSettings(Section):
    """``[kernel]``. Nothing here can switch the sandbox off.

    Attributes:
        type: An installed kind, or ``none`` for a team that runs no code.
        idle_s: How long a kernel that runs nothing is kept; the kind's own where left out.
        max_live: How many run at most; the kind's own where left out.
    """

    type: str = "local"
    idle_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_live: int | None = Field(default=None, ge=1)

    @property
    def options(self) -> dict[str, float | int]:
        """What its maker is told beside."""
        given = {"idle_s": self.idle_s, "max_live": self.max_live}
        return {name: value for name, value in given.items() if value is not None}


class McpSettings(Section):
    """A ``[mcp.NAME]``: a server of the Model Context Protocol. It runs outside the sandbox, with the user's rights.

    Attributes:
        command: The program and its arguments, for one that is started here.
        cwd: The folder that it is started in.
        env: What its environment holds.
        env_from: Names of variables of ours that it is given too.
        url: Where it is reached, for one that runs already.
        headers: Sent with each request to it.
        headers_from: The same, each with the name of the variable that holds its value.
        allow: Which of its tools there are at all; all, where left out.
        timeout_s: How long a call may take.
    """

    command: list[str] = []
    cwd: str | None = None
    env: dict[str, str] = {}
    env_from: list[str] = []
    url: str | None = None
    headers: dict[str, str] = {}
    headers_from: dict[str, str] = {}
    allow: list[str] | None = None
    timeout_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)

    @property
    def missing(self) -> list[str]:
        """Which of the variables that are named are not there."""
        return [name for name in (*self.env_from, *self.headers_from.values()) if name not in os.environ]

    @property
    def whole_env(self) -> dict[str, str]:
        """What its environment holds, with the values of our variables."""
        return {name: os.environ[name] for name in self.env_from} | self.env

    @property
    def whole_headers(self) -> dict[str, str]:
        """What is sent with each request, with the values of our variables."""
        return self.headers | {header: os.environ[name] for header, name in self.headers_from.items()}


class TelemetrySettings(Section):
    """``[telemetry]``. Where traces go, and how, the standard OTEL_* variables say.

    Attributes:
        log: What is logged on stderr, at least.
        trace: Whether rounds are traced; where left out, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector.
        jaeger_url: Where a person looks at them.
        content: Whether what is said stands in them; where left out,
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT decides.
        export_logs: Whether logs go to the collector too, where OTEL_LOGS_EXPORTER says nothing of them.
    """

    log: Level = "warning"
    trace: bool | None = None
    jaeger_url: str = "http://127.0.0.1:16686"
    content: bool | None = None
    export_logs: bool = False

    @field_validator("jaeger_url")
    @classmethod
    def _is_http(cls, jaeger_url: str) -> str:
        return _http_url(jaeger_url)
