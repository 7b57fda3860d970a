"""Documents in YAML: read with suspicion, written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml
from yaml.constructor import ConstructorError

from roles_runtime.errors import DocumentError
from roles_runtime.posts.attachment import Json

MAX_BYTES = 1024 * 1024
"""A larger document is refused."""

MAX_DEPTH = 100
"""A document nested deeper is refused: the parser below would recurse."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """JSON's types only: no dates, no ``yes``, no octal or sexagesimal numbers; a key stands once."""

    yaml_implicit_resolvers: ClassVar[dict[str | None, list[tuple[str, re.Pattern[str]]]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen if isinstance(key, yaml.ScalarNode) else True:
                raise ConstructorError(None, None, "a key must be text, and stand once", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


# Each is narrower than what the writer below quotes, so that text stays text.
for _tag, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)\Z", list("-+0123456789")),
    ("float", r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?\Z", list("-+0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


_UNUSUAL = re.compile("[\r\x85\u2028\u2029\ufeff]")
"""Line breaks to YAML but not to us, and a mark that a reader drops: written as escapes."""


class _Dumper(yaml.SafeDumper):
    """Block style, several lines as a literal block, and never an anchor."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        text.encode("utf-8")
        style = None
        if _UNUSUAL.search(text):
            style = '"'
        # A block that begins with a blank needs an indentation mark, which readers disagree about.
        elif "\n" in text and not text[0].isspace():
            style = "|"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)


def read_yaml(path: str | Path) -> dict[str, Json]:
    """Reads a YAML document whose root is a mapping.

    Raises:
        DocumentError: there is no such file, it is too large, no UTF-8 or no YAML, or it uses anchors, aliases or
            tags; the error names the line.
    """
    return parse_yaml(read_text(Path(path)), str(path))


def parse_yaml(text: str, where: str) -> dict[str, Json]:
    """As `read_yaml`, from a text; ``where`` names it in errors.

    Raises:
        DocumentError: as there.
    """
    try:
        _inspect(text, where)
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(_line(where, mark), error.problem or error.context or "it is no YAML.") from error
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(where, f"it is no YAML: {error}") from error
    if not isinstance(document, dict):
        raise DocumentError(where, "it must be a mapping: 'key: value' lines.")
    return document


def write_yaml(path: str | Path, document: Mapping[str, Json]) -> None:
    """Writes the document in place of what stood there, readable by its owner; a failure leaves the old file whole.

    Raises:
        DocumentError: it holds half a surrogate pair, which no file can keep.
        OSError: the folder is missing or can not be written.
    """
    target = Path(path)
    try:
        data = _written(document)
    except UnicodeEncodeError as error:
        raise DocumentError(str(path), "it holds half a surrogate pair, which is no Unicode text.") from error
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _written(document: Mapping[str, Json]) -> bytes:
    text = yaml.dump(
        dict(document), Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=False, width=1 << 30
    )
    return text.encode("utf-8")


def read_text(path: Path) -> str:
    """Reads a small UTF-8 file.

    Raises:
        DocumentError: it is missing, no regular file, larger than 1 MiB, or no UTF-8.
    """
    try:
        # A pipe or device under that name must not hold us up.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise DocumentError(str(path), f"it can not be read: {error.strerror}.") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise DocumentError(str(path), "it is no regular file.")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError(str(path), f"it can not be read: {error.strerror}.") from error
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise DocumentError(str(path), f"it is larger than {MAX_BYTES} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(f"{path}, line {line}", "it is not UTF-8.") from error


def _inspect(text: str, where: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = _line(where, event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise DocumentError(line, "anchors and aliases (& and *) are refused; write the value out.")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise DocumentError(line, f"tags ({tag}) are refused; write the value alone.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise DocumentError(line, f"it is nested deeper than {MAX_DEPTH} levels.")


def _line(where: str, mark: object) -> str:
    # The C parser's marks are of another class than those of the Python one.
    line = getattr(mark, "line", None)
    return where if line is None else f"{where}, line {line + 1}"
