"""What the tests of the rules model share: profiles of files, requests as roles compose them, answers read back."""

from __future__ import annotations

import contextlib
import io
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.profile import profile_code, read_profiles
from roles_runtime.llm.message import AssistantTextMessage, Message, SystemMessage, TextMessage
from roles_runtime.llm.providers.rules.grammar import NotUnderstood, Understood, understand
from roles_runtime.llm.providers.rules.model import reply_to
from roles_runtime.llm.providers.rules.query import Query
from roles_runtime.llm.providers.rules.schema import Schema
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.shared import FILE_PROFILE_HEADING, FileProfile, FileProfiles

ORDERS = Path(__file__).parents[3] / "examples" / "data" / "orders.csv"

UNDERSTOOD_WORDS = (
    "total",
    "average",
    "median",
    "how",
    "many",
    "orders",
    "rows",
    "sales",
    "quantity",
    "region",
    "product",
    "East",
    "Tea",
    "by",
    "for",
    "each",
    "in",
    "of",
    "and",
    "or",
    "top",
    "5",
    "10",
    "highest",
    "most",
    "which",
    "over",
    "between",
    "2024",
    "March",
    "month",
    "plot",
    "line",
    "chart",
    "distinct",
    "missing",
    "correlation",
    "sort",
    "descending",
    "the",
    "list",
    ",",
    "?",
    "them",
    "what",
    "about",
    "总",
    "平均",
    "各",
    "地区",
    "的",
    "销售额",
    "最高",
    "多少",
    "画图",
)

PLANNER_SCHEMA: dict[str, Any] = {
    "title": "Planner",
    "properties": {"response": {"properties": {"send_to": {"enum": ["CodeInterpreter", "User"]}}}},
}
INTERPRETER_SCHEMA: dict[str, Any] = {"title": "CodeInterpreter"}


def profile_of(path: Path) -> FileProfile:
    """The profile of a file, by the very cell that makes it in a kernel."""
    printed = io.StringIO()
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(printed):
        exec(profile_code([path.name]), {})
    execution = Execution("exec-0", "", is_success=True, stdout=(printed.getvalue(),))
    return read_profiles(execution).files[0]


@cache
def orders() -> Schema:
    """The example's table."""
    return Schema(profile_of(ORDERS))


def query_of(question: str, schema: Schema | None = None) -> Query | None:
    """What a question asks of the orders, or of another table; None where it is refused."""
    understood = understand(question, schema or orders())
    return understood.query if isinstance(understood, Understood) else None


def refusal_of(question: str) -> NotUnderstood:
    """Why a question about the orders is refused."""
    understood = understand(question, orders())
    assert isinstance(understood, NotUnderstood), understood
    return understood


def short(query: Query | None) -> str:
    """A query in one line, for tables of expectations."""
    if query is None:
        return "refused"
    parts = [" ".join(f"{each.op}({each.column}{'.' * bool(each.part)}{each.part})" for each in query.measures)]
    parts[0] = parts[0] or " ".join([query.kind, *query.columns])
    parts += [f"by {each.column}{'.' * bool(each.part)}{each.part}" for each in query.groups]
    for each in query.filters:
        values = ",".join(str(value) for value in each.values)
        parts.append(f"if {each.column}{'.' * bool(each.part)}{each.part} {each.op} {values}".rstrip())
    if query.order is not None:
        parts.append(f"order {query.order or 'value'} {'desc' if query.descending else 'asc'}")
    if query.limit:
        parts.append(f"limit {query.limit}")
    if query.plot:
        parts.append(f"plot {query.plot}")
    return "; ".join(parts)


def request(*said: Message, files: tuple[FileProfile, ...] = (), schema: dict[str, Any] | None = None) -> LLMRequest:
    """A request with the files in its instructions."""
    text = f"You answer.\n{FILE_PROFILE_HEADING}\n{FileProfiles(files).to_json()}\n" if files else "You answer.\n"
    role = (schema or {}).get("title", "")
    return LLMRequest((SystemMessage(content=text, creator=role), *said), response_schema=schema)


def by_user(text: str) -> TextMessage:
    """A user's words, as the Planner hears them."""
    return TextMessage(content=f"From: User\nMessage: {text}\n", creator="User")


def by_worker(text: str) -> TextMessage:
    """The CodeInterpreter's words, as the Planner hears them."""
    return TextMessage(content=f"From: CodeInterpreter\nMessage: {text}\n", creator="CodeInterpreter")


def own(text: str = "{}") -> AssistantTextMessage:
    """What the model said before."""
    return AssistantTextMessage(content=text)


def task(text: str) -> TextMessage:
    """A task, as the CodeInterpreter hears it."""
    content = f"The user's request:\n…\n\nYour task, from Planner:\n{text}\n\nRequirements:\n- End with the value.\n"
    return TextMessage(content=content, creator="Planner")


def planned(*said: Message, files: tuple[FileProfile, ...] | None = None) -> dict[str, str]:
    """The Planner's answer, by default about the orders."""
    given = (orders().file,) if files is None else files
    return _response(request(*said, files=given, schema=PLANNER_SCHEMA))


def interpreted(*said: Message, files: tuple[FileProfile, ...] | None = None) -> dict[str, str]:
    """The CodeInterpreter's answer, by default about the orders."""
    given = (orders().file,) if files is None else files
    return _response(request(*said, files=given, schema=INTERPRETER_SCHEMA))


def _response(asked: LLMRequest) -> dict[str, str]:
    reply = reply_to(asked)
    assert isinstance(reply, str)
    return msgspec.json.decode(reply, type=dict[str, dict[str, str]])["response"]
