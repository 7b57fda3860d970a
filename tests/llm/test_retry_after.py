"""How long a provider asks to wait is read in all its forms; what can not be read is None, never an error."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles_runtime.llm.retry_after import retry_after_s

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def gemini(delay: object) -> bytes:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    return msgspec.json.encode({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}})


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2),
        ({"Retry-After": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:30 GMT"}, 30),
        ({"retry-after": "Sun Mar  1 12:00:30 2026"}, 30),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Sun, 01 Mar 2026 14:00:30 +0200"}, 30),
        *(
            ({"retry-after": each}, None)
            for each in ("", "soon", "nan", "inf", "1_0", "٣", "9" * 400, "1e3", "2s", "99:99")
        ),
        ({}, None),
    ],
)
def test_headers(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, b"", NOW) == expected


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        ("21s", 21),
        ("21.5s", 21.5),
        ("0.000000001s", 1e-9),
        ("-1s", 0),
        ({"seconds": 21, "nanos": 500_000_000}, 21.5),
        ({"seconds": "21"}, 21),
        *((each, None) for each in ("", "s", "21", "1m", 21, None, [], {}, {"seconds": []}, "nans")),
    ],
)
def test_retry_info_of_gemini(delay: object, expected: float | None) -> None:
    assert retry_after_s({}, gemini(delay), NOW) == expected
    assert retry_after_s({}, b"[" + gemini(delay) + b"]", NOW) == expected
    assert retry_after_s({"retry-after": "7"}, gemini(delay), NOW) == 7


@given(st.floats(-1e6, 1e6))
def test_seconds_come_back(seconds: float) -> None:
    assert retry_after_s({"retry-after": f"{seconds:.6f}"}, b"", NOW) == max(0.0, float(f"{seconds:.6f}"))


@given(st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_dates_come_back(ahead: timedelta) -> None:
    date = (NOW + ahead).replace(microsecond=0)
    expected = max(0.0, (date - NOW).total_seconds())
    assert retry_after_s({"retry-after": format_datetime(date, usegmt=True)}, b"", NOW) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "Retry-After"]), st.text() | st.text("0123456789-+. :")
    ),
    st.binary() | json_values.map(gemini) | st.binary().map(lambda junk: gemini("1s")[:-3] + junk),
)
def test_garbage_is_none_or_a_wait_and_never_an_error(headers: dict[str, str], body: bytes) -> None:
    waited = retry_after_s(headers, body, NOW)
    assert waited is None or (waited >= 0 and math.isfinite(waited))


def test_a_body_that_is_deeper_than_any_reader_is_none() -> None:
    assert retry_after_s({}, b"[" * 60_000 + b'"google.rpc.RetryInfo"', NOW) is None
