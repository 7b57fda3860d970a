"""What the OTEL_* variables say, where OpenTelemetry's SDK leaves it to the application to read them.

Which exporters there are, and how they speak, the SDK reads in its auto-configuration alone, which sets global
providers; the rest (headers, certificates, sampling, resource, limits) it reads itself. Below apps/ only this file and
`llm.keys` look into the environment. This one needs nothing of OpenTelemetry: it is asked before that is imported.
"""

from __future__ import annotations

import os
import re
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from roles_runtime.errors import ConfigError

Signal: TypeAlias = Literal["TRACES", "METRICS", "LOGS"]

EXPORTERS = ("none", "otlp", "console")
_PROTOCOLS = ("http/protobuf", "grpc")
_PATHS: dict[Signal, str] = {"TRACES": "v1/traces", "METRICS": "v1/metrics", "LOGS": "v1/logs"}


def is_disabled() -> bool:
    """Whether OTEL_SDK_DISABLED switches everything off."""
    return _said("OTEL_SDK_DISABLED").lower() == "true"


def names_an_endpoint() -> bool:
    """Whether somebody said where traces go, and so wants them."""
    return bool(_said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or _said("OTEL_EXPORTER_OTLP_ENDPOINT"))


def wants_content() -> bool:
    """Whether messages, arguments and results are to stand in spans; of this one the SDK knows nothing.

    Its values are those of opentelemetry-util-genai, and ``true`` as it was before.
    """
    said = _said("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT").upper()
    return said in ("SPAN_ONLY", "SPAN_AND_EVENT", "TRUE")


def exporters(signal: Signal, default: str = "otlp") -> tuple[str, ...]:
    """Which of `EXPORTERS` a signal has; empty for ``none``.

    Raises:
        ConfigError: one of them is not known.
    """
    name = f"OTEL_{signal}_EXPORTER"
    given = [each.strip().lower() for each in (_said(name) or default).split(",")]
    for each in given:
        if each not in EXPORTERS:
            raise ConfigError("environment", name, f"there is no exporter {each!r}; known are {', '.join(EXPORTERS)}.")
    return tuple(dict.fromkeys(each for each in given if each != "none"))


def speaks_grpc(signal: Signal) -> bool:
    """Whether OTLP is spoken over gRPC, else over HTTP.

    Raises:
        ConfigError: the protocol is not known.
    """
    name, protocol = _first(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    if protocol and protocol not in _PROTOCOLS:
        raise ConfigError("environment", name, f"{protocol!r} is not spoken here; say {' or '.join(_PROTOCOLS)}.")
    return protocol == "grpc"


def endpoint(signal: Signal) -> str:
    """Where the SDK sends a signal, looked at first: it would take any text, and fail at each batch.

    Raises:
        ConfigError: it is no URL.
    """
    own = f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"
    name, given = _first(own, "OTEL_EXPORTER_OTLP_ENDPOINT")
    if speaks_grpc(signal):
        url = given or "http://localhost:4317"
        # gRPC knows its targets without a scheme too.
        _check(name, _with_scheme(url), url)
        return url
    url = given or "http://localhost:4318"
    _check(name, url, url)
    return url if name == own else f"{url.removesuffix('/')}/{_PATHS[signal]}"


def address(signal: Signal) -> tuple[str, int]:
    """Host and port of `endpoint`.

    Raises:
        ConfigError: it is no URL.
    """
    parts = urlsplit(_with_scheme(endpoint(signal)))
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def timeout_s(signal: Signal, default_s: float) -> float | None:
    """How long one export may take; None where a variable says it, which the SDK reads.

    Raises:
        ConfigError: the variable holds no number.
    """
    name, given = _first(f"OTEL_EXPORTER_OTLP_{signal}_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    if not given:
        return default_s
    try:
        # A NaN or a negative number is none that one can wait.
        if 0 < float(given) < float("inf"):
            return None
    except ValueError:
        pass
    raise ConfigError("environment", name, f"it should be a number above 0, not {given!r:.60}.")


def is_set(name: str) -> bool:
    """Whether a variable says something."""
    return bool(_said(name))


def count(name: str, default: int) -> int:
    """A number above 0.

    Raises:
        ConfigError: it is none.
    """
    given = _said(name)
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and 0 < len(given) < 10 and int(given)):
        raise ConfigError("environment", name, f"it should be a whole number above 0, not {given!r:.60}.")
    return int(given)


def _check(name: str, url: str, given: str) -> None:
    try:
        parts = urlsplit(url)
        well = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, or half an IPv6 address
        well = False
    if not well or any(each.isspace() for each in given):
        shown = re.sub(r"//[^/]*@", "//…@", given)  # a name and a password may stand there
        raise ConfigError("environment", name, f"{shown!r:.100} is no URL; say http://127.0.0.1:4318.")


def _with_scheme(target: str) -> str:
    return target if "://" in target else f"http://{target}"


def _first(*names: str) -> tuple[str, str]:
    """The first of the variables that says something, and what; the last one's name where none does."""
    return next(((name, said) for name in names if (said := _said(name))), (names[-1], ""))


def _said(name: str) -> str:
    return os.environ.get(name, "").strip()
