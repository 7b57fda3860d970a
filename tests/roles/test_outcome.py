"""What came of a cell, in words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roles_runtime.kernels.kernel import Execution
from roles_runtime.posts.conversation import ArtifactRef
from roles_runtime.roles.outcome import LONG_CHARS, MAX_STREAM_CHARS, fenced, last_line, outcome_of, unfenced


def execution(**fields: object) -> Execution:
    return Execution("exec-1", "code", **{"is_success": True, **fields})  # type: ignore[arg-type]


def test_tw_76_an_output_is_the_result() -> None:
    assert outcome_of(execution(output="2")).text.splitlines() == [
        "The execution was successful.",
        "The result is:",
        "2",
    ]
    assert "[]" in outcome_of(execution(output="[]")).text


def test_tw_76_without_an_output_stdout_is_told() -> None:
    assert outcome_of(execution(stdout=("a\n", "b\n"))).text.splitlines()[1:] == ["The stdout is:", "a", "b"]


def test_tw_76_without_anything_it_says_so() -> None:
    assert outcome_of(execution()).text.splitlines()[1:] == ["The code gave no output."]


def test_tw_76_stdout_is_cut() -> None:
    text = outcome_of(execution(stdout=("é" * 1600,))).text
    assert text.count("é") == MAX_STREAM_CHARS == 1500


def test_a_failure_tells_log_error_stdout_and_stderr() -> None:
    failed = execution(
        is_success=False,
        outcome="error",
        error="Traceback\nKeyError: 'x'",
        stdout=("out",),
        stderr=("err",),
        log=(("warning", "tool", "slow"),),
    )
    assert outcome_of(failed).text.splitlines() == [
        "The execution failed.",
        "The log is:",
        "- [tool] warning: slow",
        "The error is:",
        "Traceback",
        "KeyError: 'x'",
        "The stdout is:",
        "out",
        "The stderr is:",
        "err",
    ]


def test_a_long_error_is_told_by_its_end() -> None:
    error = "start " + "x" * 10_000 + "\nKeyError: 'y'"
    text = outcome_of(execution(is_success=False, outcome="error", error=error)).text
    assert "KeyError: 'y'" in text
    assert "start" not in text
    assert len(text) < 5000


@pytest.mark.parametrize(
    ("outcome", "told"), [("timeout", "too long"), ("lost", "variables are gone"), ("cancelled", "cancelled")]
)
def test_how_a_cell_ended_is_told(outcome: str, told: str) -> None:
    assert told in outcome_of(execution(is_success=False, outcome=outcome)).text.splitlines()[0]


def test_files_are_told_by_their_names() -> None:
    made = ArtifactRef("/keep/abc.png", "image/png", "sales.png", 2048, "abc")
    assert outcome_of(execution(artifacts=(made,))).text.splitlines()[-1] == (
        "- type: image/png; uri: sales.png; size: 2,048 bytes"
    )


def test_a_long_part_is_left_out_of_the_summary_and_a_short_one_stays() -> None:
    long = outcome_of(execution(output="é" * (LONG_CHARS + 1)))
    assert "é" * (LONG_CHARS + 1) in long.text
    assert "é" not in long.summary
    assert "The execution was successful." in long.summary
    short = outcome_of(execution(output="x" * LONG_CHARS))
    assert short.text == short.summary == short.marked


@example(output="DELIMITER", marker="{{DELIMITER_START_TEMPORAL}}")
@given(
    output=st.text(max_size=2000),
    marker=st.sampled_from(["{{DELIMITER_START_TEMPORAL}}", "{{DELIMITER_END_TEMPORAL}}"]),
)
def test_output_that_looks_like_a_delimiter_cuts_nothing(output: str, marker: str) -> None:
    outcome = outcome_of(execution(output=f"{marker}{output}{marker}", stderr=("unseen",)))
    assert outcome.summary.startswith("The execution was successful.\nThe result is:")
    # The word alone is a text like any other.
    assert "{{DELIMITER_" not in outcome.text + outcome.summary


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "x = 1"),
        ("\n```\nx = 1\ny = 2\n```\n", "x = 1\ny = 2"),
        ("print('```')", "print('```')"),
        ("a = 1\n```\nb\n```", "a = 1\n```\nb\n```"),
    ],
)
def test_a_fence_round_code_is_taken_off(written: str, code: str) -> None:
    assert unfenced(written) == code


@given(code=st.text(alphabet="`a \n", max_size=30))
def test_a_fence_holds_whatever_stands_in_it(code: str) -> None:
    first, *_, last = fenced(code).split("\n")
    assert first == last + "python"
    assert last not in code


def test_the_last_line_that_says_something() -> None:
    assert last_line("Traceback\nKeyError: 1\n\n  \n") == "KeyError: 1"
    assert last_line("") == ""
