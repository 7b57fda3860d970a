"""What a server complains of is told, whatever form it has."""

from __future__ import annotations

import json

import pytest

from roles_runtime.errors import ModelError, ModelRateLimitError, ModelRefusedError, ModelUnavailableError
from roles_runtime.llm.complaint import complaint_of, find_complaint, read_complaint


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"error": {"message": "No.", "type": "t", "code": "c"}}, ("c", "No.")),
        ({"error": {"message": "No.", "type": "t", "code": None}}, ("t", "No.")),
        ({"error": {"message": "No.", "code": "1214"}}, ("1214", "No.")),
        ({"error": {"message": "No.", "type": "t", "code": 429}}, ("t", "No.")),
        ({"error": {"message": "No.", "status": "RESOURCE_EXHAUSTED", "code": 429}}, ("RESOURCE_EXHAUSTED", "No.")),
        ({"error": {"message": "No.", "type": ["t"]}}, ('["t"]', "No.")),
        ({"error": {"message": {"de": "Nein."}}}, ("", '{"de":"Nein."}')),
        ({"error": {"message": {"de": "\ud83d"}, "code": "\ud83d"}}, ("\ufffd", '{"de":"\ufffd"}')),
        ({"error": "No."}, ("", "No.")),
        ({"message": "No.", "code": 400}, ("400", "No.")),
        ({"detail": [{"loc": ["a"]}]}, ("", '[{"loc":["a"]}]')),
        ([{"error": {"message": "No."}}], ("", "No.")),
    ],
)
def test_what_a_server_complains_of_is_read_in_all_its_forms(answer: object, said: tuple[str, str]) -> None:
    assert read_complaint(json.dumps(answer).encode()) == said


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"<html><head><title>502 Bad Gateway</title>", "an HTML page: 502 Bad Gateway"),
        (b"\n<!doctype html><p>", "an HTML page"),
        (b"upstream \xff\xfe gone", "upstream \ufffd\ufffd gone"),
        (b"", ""),
        (b"null", "null"),
        (b"[]", "[]"),
        (b"[" * 100_000, "[" * 2000),
        (b'{"error":"\\ud83d","x":' + b"[" * 100_000, ('{"error":"\\ud83d","x":' + "[" * 2000)[:2000]),
    ],
)
def test_what_is_no_complaint_of_the_servers_own_is_told_too(page: bytes, said: str) -> None:
    assert find_complaint(page) is None
    assert read_complaint(page) == ("", said)


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        ('{"message":"x","code":429}', 429, ModelRateLimitError),
        ('{"message":"x","code":"503"}', 503, ModelUnavailableError),
        ('{"message":"x","type":"server_error"}', 500, ModelUnavailableError),
        ('{"message":"x","code":42}', 0, ModelRefusedError),
        ('{"message":"x","code":"' + "9" * 5000 + '"}', 0, ModelRefusedError),
        ('"x"', 0, ModelRefusedError),
    ],
)
def test_inside_a_stream_it_is_the_error_that_its_code_stands_for(
    error: str, status: int, kind: type[ModelError]
) -> None:
    found = find_complaint(f'{{"error":{error}}}'.encode())
    assert found is not None
    assert found.http_status == status
    assert type(found.fault("openai:m")) is kind
    assert "x" in str(found.fault("openai:m"))


def test_one_without_words_says_so() -> None:
    assert "an error without words" in str(complaint_of("").fault("openai:m"))
