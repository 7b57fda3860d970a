"""Looks at code before it runs and names what the rules forbid: advice to the model. The wall is the sandbox."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

import msgspec

from roles_runtime.errors import ConfigError

ALLOWED_MODULES = ("pandas", "matplotlib", "numpy", "sklearn", "scipy", "seaborn", "datetime", "typing")
BLOCKED_FUNCTIONS = (
    *("eval", "exec", "execfile", "compile", "open", "input", "raw_input", "reload", "__import__"),
    *("getattr", "setattr", "delattr", "vars", "globals", "locals"),
    *("__getattribute__", "__setattr__", "__delattr__"),
)
# Through these the rest of Python is reached; no setting allows them.
_DANGEROUS = frozenset(
    (
        *("getattr", "setattr", "delattr", "vars", "globals", "locals"),
        *("__getattribute__", "__setattr__", "__delattr__", "__dict__", "__class__", "__bases__"),
        *("__subclasses__", "__mro__", "__builtins__", "get_ipython"),
    )
)
# Modules that others import, so that they can be reached as attributes of those.
_POWERFUL = frozenset(
    ("os", "sys", "subprocess", "shutil", "socket", "importlib", "ctypes", "builtins", "posix", "pty", "pathlib")
)
_BUILTINS = frozenset(dir(builtins))
_PRELOADED = {"pd": "pandas", "np": "numpy", "plt": "matplotlib"}
_MAGIC = re.compile(r"\s*(?:[\w,\s]+=\s*)?[!%]")
# No character that a shell would read as more than a word.
_INSTALL = re.compile(r"\s*[!%]\s*(?:python3?\s+-m\s+)?(?:pip3?|conda)\s+install(?:\s+[\w.\-\[\],=~+:/@]+)+\s*")
_PARSE = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Violation(msgspec.Struct, frozen=True):
    """A rule that a line breaks.

    Attributes:
        line: Counted from 1, in the code as it was given.
        problem: What it is, and what may be done about it.
    """

    line: int
    problem: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.problem}"


class RuleWords(msgspec.Struct, frozen=True):
    """How the rules are told in a prompt.

    Attributes:
        line: A rule: ``{rule}``, which is one of the next five, and ``{names}``.
        allowed_modules, blocked_modules, allowed_functions, blocked_functions, allowed_variables: What it says.
        listed, none: Between names, and where there are none.
        magic: The rule that always holds.
    """

    line: str
    allowed_modules: str
    blocked_modules: str
    allowed_functions: str
    blocked_functions: str
    allowed_variables: str
    listed: str
    none: str
    magic: str


ENGLISH_RULES = RuleWords(
    line="{rule}: {names}.",
    allowed_modules="Import only these modules",
    blocked_modules="Do not import",
    allowed_functions="Call only these functions",
    blocked_functions="Do not use",
    allowed_variables="Assign only these variables",
    listed=", ",
    none="none",
    magic="No magic or shell commands, but for pip install and conda install.",
)
"""In English."""


class Rules(msgspec.Struct, frozen=True):
    """What code may do. Of each pair one may be given; None on both sides allows everything.

    Attributes:
        allowed_modules, blocked_modules: Top-level names. Nothing may be imported where the allowed ones are empty.
        allowed_functions, blocked_functions: Names of functions and methods that may, or may not, be called.
        allowed_variables: Names that may be assigned.

    Raises:
        ConfigError: both of a pair are given.
    """

    allowed_modules: tuple[str, ...] | None = ALLOWED_MODULES
    blocked_modules: tuple[str, ...] | None = None
    allowed_functions: tuple[str, ...] | None = None
    blocked_functions: tuple[str, ...] | None = BLOCKED_FUNCTIONS
    allowed_variables: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for kind in ("modules", "functions"):
            if getattr(self, f"allowed_{kind}") is not None and getattr(self, f"blocked_{kind}") is not None:
                problem = f"give allowed_{kind} or blocked_{kind}, not both; set the other one to None."
                raise ConfigError("code verification", f"allowed_{kind}", problem)

    def lines(self, words: RuleWords = ENGLISH_RULES) -> list[str]:
        """The rules in words, for a prompt."""
        told: list[str] = []
        for names, rule, forbids in (
            (self.allowed_modules, words.allowed_modules, False),
            (self.blocked_modules, words.blocked_modules, True),
            (self.allowed_functions, words.allowed_functions, False),
            (self.blocked_functions, words.blocked_functions, True),
            (self.allowed_variables, words.allowed_variables, False),
        ):
            # To forbid nothing is no rule; to allow nothing is one.
            if names or (names is not None and not forbids):
                told.append(words.line.format(rule=rule, names=words.listed.join(names) or words.none))
        return [*told, words.magic]

    def allows_module(self, name: str) -> bool:
        """Whether a module may be imported, by the first part of its name."""
        top = name.partition(".")[0]
        if self.allowed_modules is not None:
            return top in self.allowed_modules
        return top not in (self.blocked_modules or ())

    def allows_call(self, name: str) -> bool:
        """Whether something of that name may be called."""
        if self.allowed_functions is not None:
            return name in self.allowed_functions
        return name not in (self.blocked_functions or ())


def verify(code: str, rules: Rules) -> tuple[Violation, ...]:
    """What of the rules the code breaks, by line; empty where it keeps all of them. Nothing is run."""
    python, magics = _without_magics(code)
    try:
        tree = compile(python, "<cell>", "exec", _PARSE, dont_inherit=True)
        found = list(_Reader(rules).read(tree))
    except SyntaxError as error:
        return (*magics, Violation(error.lineno or 1, f"It is no valid Python: {error.msg}."))
    except (ValueError, RecursionError, MemoryError) as error:
        return (*magics, Violation(1, f"It can not be read as Python: {error}."))
    return tuple(sorted((*magics, *found), key=lambda each: each.line))


def _without_magics(code: str) -> tuple[str, list[Violation]]:
    """The code with lines for IPython emptied, so that the others keep their numbers."""
    kept: list[str] = []
    refused: list[Violation] = []
    for number, line in enumerate(code.splitlines(), start=1):
        if not _MAGIC.match(line) or _is_python(line, kept):
            kept.append(line)
            continue
        kept.append(line[: len(line) - len(line.lstrip())] + "pass")
        if not _INSTALL.fullmatch(line):
            refused.append(Violation(number, f"Magic commands and shell lines can not be used: {line.strip()[:80]}"))
        if line.startswith("%%"):
            break
    return "\n".join(kept), refused


def _is_python(line: str, before: list[str]) -> bool:
    """Whether a line that begins like a magic goes on with a statement begun above: an open bracket or string."""
    if not before:
        return False
    try:
        compile("\n".join(before), "<cell>", "exec", _PARSE, dont_inherit=True)
    except SyntaxError as error:
        return "never closed" in error.msg or "unterminated triple" in error.msg
    except (ValueError, RecursionError, MemoryError):
        return True
    return False


class _Reader:
    """Reads one tree against the rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._modules = dict(_PRELOADED)

    def read(self, tree: ast.AST) -> Iterator[Violation]:
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                self._modules |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        for node in nodes:
            for problem in self._problems(node):
                yield Violation(getattr(node, "lineno", 1), problem)

    def _problems(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names):
                yield from (_no_module(alias.name) for alias in names if not self._rules.allows_module(alias.name))
            case ast.ImportFrom():
                yield from self._import_from(node)
            case ast.Call(func):
                yield from self._call(func)
            case ast.Name(name, ast.Load()):
                yield from self._name(name)
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Subscript(slice=ast.Constant(str(key))) if key in _DANGEROUS or key.startswith("__"):
                yield f"The key {key!r} reaches into Python itself; do without it."
            case ast.Assign(targets):
                yield from self._assign(targets)

    def _import_from(self, node: ast.ImportFrom) -> Iterator[str]:
        if node.level or node.module is None:
            yield "Relative imports can not be used; there is no package here."
        elif not self._rules.allows_module(node.module):
            yield _no_module(node.module)
        else:
            for alias in node.names:
                if self._hides_module(alias.name):
                    yield _no_module(alias.name)

    def _call(self, function: ast.expr) -> Iterator[str]:
        match function:
            case ast.Name(name):
                # A forbidden name is found where it stands; here are those that an allow list does not have.
                allow_list = self._rules.allowed_functions is not None
                if allow_list and not self._is_forbidden(name) and not self._rules.allows_call(name):
                    yield _no_function(name)
            case ast.Attribute(attr=name):
                # A method may be called like a builtin: re.compile, Image.open, df.eval.
                of_builtins = isinstance(function.value, ast.Name) and function.value.id in ("builtins", "__builtins__")
                listed = self._rules.allowed_functions is not None or name not in _BUILTINS or of_builtins
                if listed and name not in _DANGEROUS and not self._rules.allows_call(name):
                    yield _no_function(name)
            case ast.Call():
                return
            case ast.Subscript():
                yield "Something taken by a key is called; give it a name and call that."
            case _:
                yield "An expression is called; define a function with a name and call that."

    def _name(self, name: str) -> Iterator[str]:
        if self._is_forbidden(name):
            yield _no_function(name)

    def _is_forbidden(self, name: str) -> bool:
        """Whether a name may not even be spoken, since another name for it would be as good."""
        if name in _DANGEROUS:
            return True
        if self._rules.allowed_functions is not None:
            return name in BLOCKED_FUNCTIONS and name not in self._rules.allowed_functions
        return name in (self._rules.blocked_functions or ())

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if node.attr in _DANGEROUS:
            yield f"The attribute {node.attr} reaches into Python itself; do without it."
        elif self._hides_module(node.attr) and self._root(node) in self._modules:
            yield _no_module(node.attr)

    def _hides_module(self, name: str) -> bool:
        return name in _POWERFUL and not self._rules.allows_module(name)

    def _assign(self, targets: list[ast.expr]) -> Iterator[str]:
        allowed = self._rules.allowed_variables
        for target in targets:
            if allowed is not None and isinstance(target, ast.Name) and target.id not in allowed:
                yield f"The variable {target.id} can not be assigned; use {', '.join(allowed) or 'none'}."

    @staticmethod
    def _root(node: ast.Attribute) -> str:
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        return inner.id if isinstance(inner, ast.Name) else ""


def _no_module(name: str) -> str:
    return f"The module {name} can not be used here; do it with one that is allowed."


def _no_function(name: str) -> str:
    return f"{name} can not be used here; do it another way."
