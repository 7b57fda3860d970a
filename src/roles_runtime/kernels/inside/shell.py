"""An IPython kernel that speaks Jupyter's protocol over ipc sockets, and little else.

What it does about output is courtesy: a cell that prints 50 MB stays cheap. The walls are the sandbox, and the
runtime caps again whatever comes out.
"""

# mypy: disable-error-code="no-untyped-call,union-attr,override,arg-type,unreachable"

from __future__ import annotations

import codeop
import contextlib
import json
import logging
import os
import sys
from typing import Any

# The debugger is a third of the start, and nobody is there to debug.
sys.modules["debugpy"] = None  # type: ignore[assignment]

from ipykernel.displayhook import ZMQShellDisplayHook  # noqa: E402
from ipykernel.iostream import OutStream  # noqa: E402
from ipykernel.ipkernel import IPythonKernel  # noqa: E402
from ipykernel.kernelapp import IPKernelApp  # noqa: E402
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell  # noqa: E402
from jupyter_client.jsonutil import json_clean, json_default  # noqa: E402
from jupyter_client.session import Session  # noqa: E402
from traitlets import Type  # noqa: E402
from traitlets.config import Config  # noqa: E402

STREAM_CHARS = 1_000_000
TEXT_CHARS = 20_000
MESSAGE_BYTES = 12 << 20
DISPLAYS = 100
LOG_MIME = "application/vnd.roles-runtime.log+json"
SHOWN_TYPES = ["text/plain", "image/png", "image/jpeg", "image/svg+xml"]


class CappedStream(OutStream):
    """Passes on so many characters a cell, then counts."""

    left, cut = STREAM_CHARS, 0

    def begin(self) -> None:
        """A cell begins."""
        self.left, self.cut = STREAM_CHARS, 0

    def end(self) -> None:
        """A cell ends: says what was cut."""
        if self.cut:
            super().write(f"\n[{self.cut} more characters were cut]\n")
            self.cut = 0

    def close(self) -> None:
        """Does nothing: the next cell writes to it again."""

    def write(self, string: str) -> int | None:
        """Writes what still fits."""
        if not isinstance(string, str):
            return super().write(string)
        kept = string[: self.left] if len(string) > self.left else string
        self.left -= len(kept)
        self.cut += len(string) - len(kept)
        if kept:
            super().write(kept)
        return len(string)


def packed(value: Any) -> bytes:
    """JSON in UTF-8. Halves of surrogate pairs, which no UTF-8 can hold, become question marks."""
    try:
        text = json.dumps(value, default=json_default, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(json_clean(value), default=json_default, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


class CappedSession(Session):
    """Sends no message that is larger than the runtime takes."""

    def serialize(self, msg: dict[str, Any], ident: Any = None) -> list[bytes]:
        """The message's frames, with its content shortened where it is too large."""
        frames = super().serialize(msg, ident)
        if sum(map(len, frames)) <= MESSAGE_BYTES:
            return frames
        return super().serialize({**msg, "content": _shortened(msg["content"])}, ident)


def _shortened(content: dict[str, Any]) -> dict[str, Any]:
    if "status" in content or "ename" in content:
        short = {name: str(content.get(name, ""))[-TEXT_CHARS:] for name in ("status", "ename", "evalue")}
        return {**short, "traceback": [str(line)[-TEXT_CHARS:] for line in content.get("traceback", ())][-50:]}
    return {"data": {"text/plain": "[something too large to be shown]"}, "metadata": {}, "transient": {}}


class Publisher(ZMQDisplayPublisher):
    """Shows so many things a cell, then counts."""

    shown = 0

    def publish(self, data: dict[str, Any], metadata: Any = None, **kwargs: Any) -> None:
        """Shows one more, within the cap."""
        self.shown += 1
        if self.shown <= DISPLAYS:
            super().publish(data, metadata, **kwargs)


class Hook(ZMQShellDisplayHook):
    """The value of a cell as text: a str as it is, everything else as it shows itself."""

    def compute_format_data(self, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The value's forms by media type, its text cut."""
        if type(result) is str:
            return {"text/plain": result[:TEXT_CHARS]}, {}
        data, metadata = super().compute_format_data(result)
        if isinstance(data.get("text/plain"), str):
            data["text/plain"] = data["text/plain"][:TEXT_CHARS]
        return data, metadata


class Shell(ZMQInteractiveShell):
    """The shell with our hooks in it."""

    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)

    def ask_exit(self) -> None:
        """Nothing: a cell that ends with exit() is done, its session is not."""


class Kernel(IPythonKernel):
    """A kernel whose cells have whole streams and a trace context of their own."""

    shell_class = Type(Shell)
    streams: tuple[CappedStream, CappedStream]

    async def execute_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        """Runs a cell; TRACEPARENT is set while it runs."""
        traceparent = parent.get("metadata", {}).get("traceparent")
        if traceparent:
            os.environ["TRACEPARENT"] = traceparent
        self.shell.display_pub.shown = 0
        for each in self.streams:
            each.begin()
        try:
            await super().execute_request(stream, ident, parent)
        finally:
            os.environ.pop("TRACEPARENT", None)

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> Any:
        """Runs a cell's code and leaves the streams as they were."""
        try:
            return await super().do_execute(
                code, silent, store_history, user_expressions, allow_stdin, cell_meta=cell_meta, cell_id=cell_id
            )
        finally:
            # A cell may have put anything in their place, and no reply is sent unless they can be flushed.
            sys.stdout, sys.stderr = self.streams
            for each in self.streams:
                each.end()
            left_out = self.shell.display_pub.shown - DISPLAYS
            if left_out > 0:
                self.streams[0].write(f"\n[{left_out} more displays were left out]\n")


class App(IPKernelApp):
    """The kernel's process: addresses are given, there is no connection file, no heartbeat and no debugger."""

    kernel_class = Type(Kernel)
    address, secret = "", b""

    def init_connection_file(self) -> None:
        """Takes the addresses that the runtime chose."""
        self.transport, self.ip = "ipc", self.address
        self.shell_port, self.iopub_port, self.stdin_port, self.control_port = 1, 2, 3, 4
        self.session = CappedSession(parent=self, username="kernel", key=self.secret, pack=packed)

    def write_connection_file(self, **kwargs: Any) -> None:
        """Nothing to write."""

    def init_heartbeat(self) -> None:
        """The runtime watches the process itself."""

    def init_pdb(self) -> None:
        """Nobody answers a debugger here."""

    def init_io(self) -> None:
        """The streams, capped."""
        super().init_io()
        sys.stdout.__class__ = sys.stderr.__class__ = CappedStream

    def quieten(self) -> None:
        """What is written to the descriptors is published, and from now on echoed to nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in self.kernel.streams:
            os.dup2(nowhere, stream._original_stdstream_copy)
        os.close(nowhere)

    def init_kernel(self) -> None:
        """The kernel, which keeps the streams."""
        super().init_kernel()
        self.kernel.streams = (sys.stdout, sys.stderr)


class LogHandler(logging.Handler):
    """Hands what code logs to the runtime as (level, tag, message)."""

    def __init__(self, publisher: Publisher) -> None:
        super().__init__()
        self.publisher = publisher

    def emit(self, record: logging.LogRecord) -> None:
        """Publishes a record; a broken one is reported as everywhere in logging."""
        try:
            self.publisher.publish({LOG_MIME: [record.levelname, record.name, record.getMessage()[:2000]]})
        except Exception:
            self.handleError(record)


def preload(shell: Shell) -> None:
    """Has pd, np and plt there before anybody asks, as far as they are installed."""
    names: dict[str, Any] = {}
    with contextlib.suppress(ImportError):
        import numpy as np

        plain = shell.display_formatter.formatters["text/plain"]
        for kind in (np.float64, np.float32, np.int64, np.int32, np.bool_, np.str_):
            plain.for_type(kind, lambda value, printer, cycle: printer.text(repr(value.item())))
        names["np"] = np
    with contextlib.suppress(ImportError):
        import pandas as pd

        for option, value in (("max_rows", 40), ("min_rows", 20), ("max_columns", 40), ("width", 200)):
            pd.set_option(f"display.{option}", value)
        names["pd"] = pd
    with contextlib.suppress(ImportError):
        import matplotlib.pyplot as plt

        shell.enable_matplotlib("inline")
        names["plt"] = plt
    shell.push(names, interactive=False)


def serve(address: str, key: str, parent: int) -> None:
    """Is a kernel until the process ends.

    Args:
        address: Its sockets are ``{address}-1`` (shell), ``-2`` (iopub), ``-3`` (stdin) and ``-4`` (control).
        key: Signs the messages.
        parent: A process to die with, or 0.
    """
    config = Config()
    config.IPKernelApp.log_level = logging.CRITICAL
    config.IPKernelApp.parent_handle = parent
    config.InteractiveShell.ast_node_interactivity = "last_expr_or_assign"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    config.HistoryManager.enabled = False
    app = App.instance(config=config)
    app.address, app.secret = address, key.encode()
    app.initialize([])
    del sys.modules["debugpy"]
    app.shell.display_formatter.active_types = SHOWN_TYPES
    # A cell is whole: where it ends too early, that is a SyntaxError and no wish for more lines.
    app.shell.compile.flags &= ~getattr(codeop, "PyCF_ALLOW_INCOMPLETE_INPUT", 0)
    preload(app.shell)
    logging.getLogger().addHandler(LogHandler(app.shell.display_pub))
    app.quieten()
    app.start()
