from __future__ import annotations

import re

import pytest

from roles_runtime.errors import AttachmentTypeError, DocumentError
from roles_runtime.posts.attachment import (
    DEPRECATED_TYPES,
    KNOWN_TYPES,
    Attachment,
    AttachmentType,
    register_attachment_type,
)
from roles_runtime.posts.shared import SharedMemoryEntry


def test_there_are_the_22_types_each_named_as_its_value() -> None:
    assert len(AttachmentType) == 22
    assert all(member.name == member.value for member in AttachmentType)


def test_a_type_may_be_given_as_member_or_by_name() -> None:
    by_member = Attachment.create(AttachmentType.plan, "p")
    by_name = Attachment.create("plan", "p")
    assert by_member.type is by_name.type is AttachmentType.plan
    assert re.fullmatch(r"atta-\d{8}-\d{6}-[0-9a-f]{8}", by_name.id)


def test_an_unknown_type_is_refused_by_name_and_says_how_to_register_it() -> None:  # TW-34
    with pytest.raises(AttachmentTypeError, match=r"'nope' is no attachment type.*register_attachment_type") as caught:
        Attachment.create("nope", "x")
    assert isinstance(caught.value, ValueError)


def test_a_registered_type_is_accepted_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(KNOWN_TYPES, "chart_spec", raising=False)
    assert register_attachment_type("chart_spec") == "chart_spec"
    assert register_attachment_type("chart_spec") == "chart_spec"
    assert Attachment.create("chart_spec", "x").type == "chart_spec"
    monkeypatch.delitem(KNOWN_TYPES, "chart_spec")


@pytest.mark.parametrize("name", ["message", "send_to", "Chart", "two words", "", "1st", *DEPRECATED_TYPES])
def test_names_that_would_be_ambiguous_can_not_be_registered(name: str) -> None:
    with pytest.raises(AttachmentTypeError):
        register_attachment_type(name)


def test_it_becomes_a_dict_with_its_keys_in_order_and_back_with_its_id() -> None:
    made = Attachment.create("execution_result", "3 rows", extra={"rows": [1, 2]})
    assert list(made.to_dict()) == ["id", "type", "content", "extra"]
    back = Attachment.from_dict(made.to_dict())
    assert back == made
    assert back.id == made.id


def test_id_and_extra_may_be_missing_in_a_document() -> None:  # TW-34
    loaded = Attachment.from_dict({"type": "plan", "content": "1. go"})
    assert loaded.id.startswith("atta-")
    assert loaded.extra is None


def test_a_restored_shared_memory_entry_is_one_again() -> None:
    entry = SharedMemoryEntry.create("plan", "round", "go")
    made = Attachment.create("shared_memory_entry", "", extra=entry)
    assert Attachment.from_dict(made.to_dict()).extra == entry


def test_a_text_attachment_loads_again() -> None:
    made = Attachment.create("text", "found it")
    assert Attachment.from_dict(made.to_dict()) == made


def test_a_type_that_is_unknown_here_survives_a_round_trip() -> None:
    foreign = {"id": "atta-1", "type": "from_elsewhere", "content": "x", "extra": [1, {"a": None}]}
    assert Attachment.from_dict(foreign).to_dict() == foreign


@pytest.mark.parametrize("kind", sorted(DEPRECATED_TYPES))
def test_a_deprecated_type_is_refused_in_a_document(kind: str) -> None:
    with pytest.raises(DocumentError, match="deprecated"):
        Attachment.from_dict({"type": kind, "content": "x"})


@pytest.mark.parametrize("content", [{}, {"type": "plan"}, {"content": "x"}, {"type": "plan", "content": 3}])
def test_type_and_content_must_be_text(content: dict[str, object]) -> None:
    with pytest.raises(DocumentError, match="'type' and a 'content'"):
        Attachment.from_dict(content)


def test_as_text_it_says_its_type_and_content() -> None:
    assert str(Attachment.create("plan", "1. go")) == repr(Attachment.create("plan", "1. go")) == "PLAN: 1. go"
