"""The command line. What a command needs is imported when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from roles_runtime.apps.config import Config

Team: TypeAlias = Annotated[
    Path | None,
    typer.Option("--team", metavar="FILE", help="Who answers, in TOML; a Planner and a CodeInterpreter else."),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER:NAME", help="The model of roles that name none.")
]
Store: TypeAlias = Annotated[
    str | None, typer.Option("--store", metavar="URL", help="Where sessions rest: sqlite:///roles.db, local:.")
]
DataDir: TypeAlias = Annotated[
    str | None, typer.Option("--data-dir", metavar="FOLDER", help="Where sessions keep their files.")
]
Verbose: TypeAlias = Annotated[bool, typer.Option("--verbose", help="Log on stderr what happens.")]
Unsafe: TypeAlias = Annotated[
    bool, typer.Option("--unsafe-no-sandbox", help="Where no sandbox can be had, run an LLM's code without one.")
]
Trace: TypeAlias = Annotated[
    bool, typer.Option("--trace", help="Send a trace of each round to a collector; see README, Traces.")
]
SessionId: TypeAlias = Annotated[str | None, typer.Option("--session", metavar="ID", help="Go on with this session.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]

app = typer.Typer(
    name="roles-runtime",
    help="A team of agent roles answers questions about your files. Without a command it opens a chat.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"roles-runtime {version('roles-runtime')}")
        raise typer.Exit


Version: TypeAlias = Annotated[
    bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
]


@app.callback(invoke_without_command=True)
def chat(
    context: typer.Context,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    session: SessionId = None,
    unsafe_no_sandbox: Unsafe = False,
    trace: Trace = False,
    verbose: Verbose = False,
    _: Version = False,
) -> None:
    """Open a chat."""
    if context.invoked_subcommand is not None:
        # Options before a command belong to the chat; taking them for the command's would be a guess.
        given = [name for name in context.params if context.params[name]]
        if given:
            raise typer.BadParameter(f"write --{given[0].replace('_', '-')} after {context.invoked_subcommand}.")
        return

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.chat import chat

        return chat(config, session_id=session, unsafe_no_sandbox=unsafe_no_sandbox)

    _run(work, team, model, store, data_dir, verbose=verbose, trace=trace)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What the team is asked.")],
    file: Annotated[
        list[Path] | None, typer.Option("--file", metavar="FILE", help="A file to look at; any number.")
    ] = None,
    as_json: AsJson = False,
    session: SessionId = None,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    unsafe_no_sandbox: Unsafe = False,
    trace: Trace = False,
    verbose: Verbose = False,
) -> None:
    """Ask one question. Exit status: 0 finished, 1 failed, 2 bad usage, 130 cancelled."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.asking import ask_once

        # Bytes of the command line that are no UTF-8 come as halves of surrogate pairs, which nothing can keep.
        text = question.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return ask_once(
            config, text, file or (), session_id=session, as_json=as_json, unsafe_no_sandbox=unsafe_no_sandbox
        )

    _run(work, team, model, store, data_dir, verbose=verbose, trace=trace)


@app.command()
def sessions(
    as_json: AsJson = False,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    verbose: Verbose = False,
) -> None:
    """List the sessions, the one last written to first."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.reading import list_sessions

        return list_sessions(config, as_json=as_json)

    _run(work, team, model, store, data_dir, verbose=verbose)


@app.command()
def show(
    session: Annotated[str, typer.Argument(metavar="ID", help="Which session.")],
    as_json: AsJson = False,
    svg: Annotated[Path | None, typer.Option("--svg", hidden=True, help="Draw the last round into this file.")] = None,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    verbose: Verbose = False,
) -> None:
    """Print all rounds of a session, whoever has it open."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.reading import show_session

        return show_session(config, session, as_json=as_json, svg=svg)

    _run(work, team, model, store, data_dir, verbose=verbose)


@app.command()
def trace(
    session: Annotated[str, typer.Argument(metavar="ID", help="Which session.")],
    number: Annotated[int | None, typer.Option("--round", metavar="N", help="That round alone, from 1.")] = None,
    as_json: AsJson = False,
    content: Annotated[bool, typer.Option("--content", help="Also code, arguments, results and whole texts.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into this file.")] = None,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    verbose: Verbose = False,
) -> None:
    """Print what happened in each round as a tree: who wrote to whom, what ran, how long it took."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.trace import show_trace

        return show_trace(config, session, number=number, as_json=as_json, with_content=content, svg=svg)

    _run(work, team, model, store, data_dir, verbose=verbose)


@app.command()
def tasks(
    session: Annotated[str, typer.Argument(metavar="ID", help="Which session.")],
    as_json: AsJson = False,
    graph: Annotated[bool, typer.Option("--graph", help="Print a Mermaid graph.")] = False,
    done: Annotated[bool, typer.Option("--done", help="Also those that were completed and taken off.")] = False,
    team: Team = None,
    model: Model = None,
    store: Store = None,
    data_dir: DataDir = None,
    verbose: Verbose = False,
) -> None:
    """Print the board of tasks of a session, whoever has it open."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.tasks import show_tasks

        return show_tasks(config, session, as_json=as_json, as_graph=graph, done=done)

    _run(work, team, model, store, data_dir, verbose=verbose)


@app.command()
def doctor(
    team: Team = None, model: Model = None, store: Store = None, data_dir: DataDir = None, verbose: Verbose = False
) -> None:
    """Look at what is needed: each line says ok, or how to mend it."""

    def work(config: Config) -> Coroutine[object, object, int]:
        from roles_runtime.apps.doctor import examine

        return examine(config)

    _run(work, team, model, store, data_dir, verbose=verbose)


def main() -> None:
    """The entry point of ``roles-runtime`` and ``python -m roles_runtime``."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Whoever started us closed it.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            # A terminal that can not show a character gets its code instead of an error.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="roles-runtime")
    except KeyboardInterrupt:
        # It came before a command began, or after it ended.
        sys.exit(130)
    except OSError as error:
        # The help could not be written.
        sys.exit(_refused(error))


def _run(
    work: Callable[[Config], Coroutine[object, object, int]],
    team: Path | None,
    model: str | None,
    store: str | None,
    data_dir: str | None,
    *,
    verbose: bool,
    trace: bool = False,
) -> None:
    """Runs a command in an event loop, and ends the process with its exit status."""
    import asyncio

    from roles_runtime.apps.config import read_config
    from roles_runtime.apps.notices import tell
    from roles_runtime.apps.text import clean, one_line
    from roles_runtime.errors import RolesError
    from roles_runtime.telemetry.logs import setup_logs

    pretty = sys.stderr.isatty()
    setup_logs(pretty=pretty, clean=clean)
    try:
        level = "debug" if verbose else None
        config = read_config(team, model=model, store=store, data_dir=data_dir, log_level=level, trace=trace or None)
        setup_logs(config.settings.telemetry.log, pretty=pretty, clean=clean)
        status = asyncio.run(work(config))
        # What waits in the pipe still may be refused, and is told now, not by Python at its end.
        sys.stdout.flush()
    except RolesError as error:
        tell(f"Error: {one_line(str(error), 2000)}")
        status = 2
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        status = _refused(error)
    raise typer.Exit(status)


def _refused(error: OSError) -> int:
    """Tells what the machine refused, and returns the exit status."""
    from roles_runtime.apps.notices import tell
    from roles_runtime.apps.text import one_line

    _let_go_of_stdout()
    if isinstance(error, BrokenPipeError):
        # Whoever reads our output went away, which is theirs to do.
        return 141
    tell(f"Error: {one_line(str(error), 2000)}")
    return 2


def _let_go_of_stdout() -> None:
    """Keeps Python from complaining at its end about what it can not write."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
