from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.errors import ConfigError
from roles_runtime.kernels.verification import Rules, verify

_IMPORTS = "import numpy as np\nimport matplotlib.pyplot as plt"
_CALLS = "exec('1')\neval('2 + 2')\nprint('hello')"
_VARIABLES = "name = 'a'\nage = 3"


def rules(**given: tuple[str, ...] | None) -> Rules:
    return Rules(**{"allowed_modules": None, "blocked_functions": None, **given})


@pytest.mark.parametrize(
    ("code", "setting", "names", "count"),
    [
        (_IMPORTS, "allowed_modules", ("pandas", "matplotlib"), 1),  # TW-50
        (_IMPORTS, "allowed_modules", (), 2),
        (_IMPORTS, "allowed_modules", None, 0),
        (_IMPORTS, "blocked_modules", ("numpy", "matplotlib"), 2),
        (_IMPORTS, "blocked_modules", (), 0),
        (_CALLS, "blocked_functions", ("exec", "eval"), 2),  # TW-51
        (_CALLS, "blocked_functions", (), 0),
        (_CALLS, "blocked_functions", None, 0),
        (_CALLS, "allowed_functions", ("print", "abs"), 2),
        (_CALLS, "allowed_functions", (), 3),
        (_VARIABLES, "allowed_variables", ("name", "age"), 0),  # TW-52
        (_VARIABLES, "allowed_variables", (), 2),
        (_VARIABLES, "allowed_variables", None, 0),
        ("name, age = 'a', 3", "allowed_variables", (), 0),
    ],
)
def test_settings_count_as_taskweavers_do(code: str, setting: str, names: tuple[str, ...] | None, count: int) -> None:
    assert len(verify(code, rules(**{setting: names}))) == count


@pytest.mark.parametrize("kind", ["modules", "functions"])
def test_allowing_and_blocking_of_one_kind_is_a_mistake(kind: str) -> None:
    with pytest.raises(ConfigError, match="not both"):
        rules(**{f"allowed_{kind}": ("a",), f"blocked_{kind}": ("b",)})


def test_pip_may_be_called_and_other_magics_may_not() -> None:
    # TW-53
    found = verify("!pip install pandas\n%matplotlib inline\nx = 1", rules())
    assert [each.line for each in found] == [2]
    assert "Magic commands" in found[0].problem


@pytest.mark.parametrize(
    ("code", "least", "named"),
    [
        ("getattr(x, 'y')", 1, "getattr"),  # TW-54
        ("setattr(x, 'y', 1)", 1, "setattr"),
        ("vars(x)", 1, "vars"),
        ("delattr(x, 'y')", 1, "delattr"),
        ("globals()\nlocals()", 2, "locals"),
        ("obj.__class__.__bases__", 2, "__bases__"),
        ("obj['__class__']", 1, "__class__"),
        ("methods['x'](1)", 1, "called"),
        ("import sys\nsys.modules['__builtins__']", 1, "__builtins__"),
    ],
)
def test_what_reaches_into_python_is_always_refused(code: str, least: int, named: str) -> None:
    found = verify(code, rules())
    assert len(found) >= least
    assert any(named in str(each) for each in found)


@pytest.mark.parametrize(
    "code",
    [
        "f = eval\nf('1')",
        "print(eval('1'))",
        "[open][0]('x')",
        "pd.io.common.os.system('id')",
        "import numpy as n\nn.f2py.os",
        "from pandas.io.common import os",
        "from . import x",
        "!pip install x; rm -rf /",
        "!pip install x && id",
        "!pip install $(id)",
        "a = !ls",
        "%%bash\nls",
        "get_ipython().system('id')",
        "(lambda: 1)()",
        "__builtins__.__dict__['op' + 'en']('x')",
    ],
)
def test_ways_round_the_rules_are_seen(code: str) -> None:
    assert verify(code, Rules())


@pytest.mark.parametrize(
    "code",
    [
        "pattern.compile('x')",
        "Image.open('x.png')",
        "df.eval('a + b')",
        "df.os = 1\ndf.os.sum()",
        "x = (5\n  % 3)",
        "text = '''\n!ls\n'''",
        "!pip install pandas==2.0 'x'".replace(" 'x'", ""),
        "await thing()",
        "",
    ],
)
def test_harmless_code_passes(code: str) -> None:
    assert verify(code, Rules()) == ()


def test_re_compile_passes_where_re_is_allowed() -> None:
    assert verify("import re\nre.compile('x')", Rules(allowed_modules=("re",))) == ()


def test_a_syntax_error_is_one_violation_with_its_line() -> None:
    (found,) = verify("x = 1\ndef f(:\n", Rules())
    assert found.line == 2
    assert "no valid Python" in str(found)


def test_lines_are_counted_in_the_code_as_it_was_given() -> None:
    assert [each.line for each in verify("# note\n\n!pip install x\nimport os", Rules())] == [4]


def test_the_rules_can_be_told_in_words() -> None:
    told = " ".join(Rules().lines())
    assert "pandas" in told
    assert "eval" in told
    assert "Import only these modules: none." in Rules(allowed_modules=()).lines()


@given(st.text())
def test_no_text_makes_it_raise(code: str) -> None:
    for each in verify(code, Rules()):
        assert each.line >= 1


def test_deeply_nested_code_is_refused_and_not_fallen_over() -> None:
    assert verify("(" * 5000 + ")" * 5000, Rules())
    assert verify("-" * 100_000 + "1", Rules())
