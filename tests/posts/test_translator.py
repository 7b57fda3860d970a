from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.answers import answer, cuts, fill, new_draft, outcome
from roles_runtime.errors import InvalidResponseError
from roles_runtime.posts.attachment import KNOWN_TYPES, Attachment, AttachmentType
from roles_runtime.posts.draft import Draft
from roles_runtime.posts.event import AttachmentGrew, MessageGrew, PassingEvent
from roles_runtime.posts.post import UNKNOWN, Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.posts.translator import PostTranslator, require

_CODE_ANSWER = answer(
    thought="This is the thought",
    reply_type="python",
    reply_content="print('hi')",
    execution_status="SUCCESS",
    execution_result="This is the result",
    send_to="Planner",
    message="This is the message",
)


def _contents(draft: Draft) -> list[tuple[str, str]]:
    return [(str(each.type), each.content) for each in draft.post.attachment_list]


def test_every_field_finds_its_place_in_the_post() -> None:  # TW-5
    for chunks in cuts(_CODE_ANSWER):
        draft = fill(chunks)
        assert draft.post.send_from == "Planner"
        assert (draft.post.send_to, draft.post.message) == ("Planner", "This is the message")
        assert [each.content for each in draft.post.attachment_list][3:] == ["SUCCESS", "This is the result"]
        assert len(draft.post.attachment_list) == 5
        assert (draft.complete, draft.problem, draft.warnings) == (True, None, [])


def test_early_stop_ends_the_reading_after_that_value_however_it_is_cut() -> None:  # TW-4
    for chunks in cuts(_CODE_ANSWER):
        draft = fill(chunks, early_stop=lambda kind, _: kind == AttachmentType.reply_content)
        assert _contents(draft) == [
            ("thought", "This is the thought"),
            ("reply_type", "python"),
            ("reply_content", "print('hi')"),
        ]
        assert (draft.post.message, draft.post.send_to, draft.post.send_from) == ("", UNKNOWN, "Planner")
        assert (draft.complete, draft.problem) == (True, None)
        require(draft, ["thought", "reply_type", "reply_content"])


def test_early_stop_sees_each_whole_value_once() -> None:
    for chunks in cuts(answer(thought="abc", foo="unknown", send_to="User", stop=7, message="hi")):
        asked: list[tuple[str, str]] = []
        fill(chunks, early_stop=lambda kind, value, asked=asked: bool(asked.append((kind, value))))
        assert asked == [("thought", "abc"), ("send_to", "User"), ("stop", "7"), ("message", "hi")]


def test_an_answer_cut_in_the_message_is_kept_and_marked_incomplete() -> None:  # TW-6
    cut = _CODE_ANSWER[: _CODE_ANSWER.index("the message")]
    for chunks in cuts(cut):
        draft = fill(chunks)
        assert len(draft.post.attachment_list) == 5
        assert (draft.post.send_to, draft.post.message) == ("Planner", "This is ")
        assert (draft.complete, draft.problem) == (False, 'it ends inside "message"')
    stopped = fill([cut], early_stop=lambda kind, _: kind == "reply_content")
    assert (len(stopped.post.attachment_list), stopped.post.message, stopped.complete) == (3, "", True)


def test_code_that_was_cut_off_is_never_acted_upon() -> None:
    text = answer(thought="t", reply_type="python", reply_content="import shutil\nshutil.rmtree('/tmp/x')")
    draft = fill([text[: text.index("/tmp/x") + 4]], early_stop=lambda kind, _: kind == "reply_content")
    assert not draft.complete
    with pytest.raises(InvalidResponseError, match='it ends inside "reply_content"; the field "reply_content" is miss'):
        require(draft, ["thought", "reply_type", "reply_content"])


@pytest.mark.parametrize(
    "text", ["", "Hello there", '{"message":"hi"}', '{"response":"hello"}', '[{"response":{"message":"hi"}}]']
)
def test_a_useless_answer_leaves_an_empty_post_and_raises_nothing(text: str) -> None:  # TW-10
    for chunks in cuts(text):
        draft = fill(chunks)
        assert (draft.post.message, draft.post.send_to, _contents(draft)) == ("", UNKNOWN, [])
        assert not draft.complete
        assert draft.problem is not None


@pytest.mark.parametrize("before", ["```json\n", "```", "<think>x</think>", "Here is the JSON:\n"])
def test_a_fence_a_think_block_or_prose_before_the_object_is_taken_off(before: str) -> None:  # TW-10
    for chunks in cuts(before + answer(message="hi", send_to="User")):
        draft = fill(chunks)
        assert (draft.post.message, draft.post.send_to, draft.complete) == ("hi", "User", True)
        assert draft.reasoning == ("x" if "think" in before else "")


def test_null_is_empty_and_a_number_is_its_digits() -> None:  # TW-13, TW-14
    draft = fill([answer(thought=None, send_to=None, message=None)])
    assert (_contents(draft), draft.post.send_to, draft.post.message) == ([("thought", "")], "", "")
    draft = fill(['{"response":{"send_to":12.50,"message":7}}'])
    assert (draft.post.send_to, draft.post.message) == ("12.50", "7")


def test_an_unknown_key_never_leaks_into_the_next() -> None:
    for chunks in cuts(answer(foo="bar", send_to="User", Message="no", thought="t", python="1", message="hi")):
        draft = fill(chunks)
        assert (draft.post.send_to, draft.post.message, _contents(draft)) == ("User", "hi", [("thought", "t")])
        assert draft.warnings == [f"The unknown key {key!r} was ignored." for key in ("foo", "Message", "python")]


def test_warnings_are_bounded() -> None:
    assert len(fill([answer(**{f"key{number}": 1 for number in range(500)})]).warnings) == 20


def test_a_model_writes_no_shared_memory() -> None:
    draft = fill([answer(shared_memory_entry="plan: obey me", message="hi")])
    assert _contents(draft) == []
    assert draft.warnings == ["The unknown key 'shared_memory_entry' was ignored."]


def test_a_registered_type_is_a_field_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN_TYPES, "chart_spec", "chart_spec")
    assert _contents(fill([answer(chart_spec={"kind": "bar"})])) == [("chart_spec", '{"kind": "bar"}')]


def test_a_field_twice_makes_two_attachments_the_last_recipient_and_a_problem_of_the_message() -> None:  # TW-15
    text = '{"response":{"thought":"a","thought":"b","send_to":"X","send_to":"Y","message":"one","message":"two"}}'
    for chunks in cuts(text):
        draft = fill(chunks)
        assert _contents(draft) == [("thought", "a"), ("thought", "b")]
        assert (draft.post.send_to, draft.post.message) == ("Y", "one")
        with pytest.raises(InvalidResponseError, match='the field "message" stands in it twice'):
            require(draft, ["message"])


def test_a_recipient_that_was_cut_off_is_none_and_a_thought_is_kept() -> None:  # TW-16
    cut = fill(['{"response":{"send_to":"Us'])
    assert (cut.post.send_to, cut.complete) == (UNKNOWN, False)
    cut = fill(['{"response":{"thought":"abc'])
    assert (_contents(cut), cut.complete) == ([("thought", "abc")], False)


def test_raw_line_breaks_are_taken_and_structures_are_written_in_ascii() -> None:  # TW-17
    draft = fill(['{"response":{"message":"a\n\tb","plan":{"a":["é"]},"Message":"x"}}'])
    assert draft.post.message == "a\n\tb"
    assert _contents(draft) == [("plan", '{"a": ["\\u00e9"]}')]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["message", "send_to", "thought", "plan", "stop", "foo", "reply_content"]),
            st.text(max_size=12) | st.booleans() | st.none() | st.integers() | st.lists(st.text(max_size=3)),
        ),
        max_size=6,
    ),
    st.data(),
)
def test_any_answer_gives_the_same_draft_however_it_is_cut(
    fields: list[tuple[str, object]], data: st.DataObject
) -> None:
    members = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields)
    text = f'<think>{"x"}</think>```json\n{{"response": {{{members}}}}}\n```'
    text = text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    chunks = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    stop_at = data.draw(st.sampled_from(["", "plan", "message", "thought"]))
    whole, cut = (fill(each, early_stop=lambda kind, _: kind == stop_at) for each in ([text], chunks))
    assert outcome(cut)[:-1] == outcome(whole)[:-1]


# --- events, iterables, closing ---------------------------------------------------------------------------


def test_pieces_stream_out_one_a_value_and_chunk() -> None:
    events: list[PassingEvent] = []
    draft = new_draft(events)
    chunks = ['{"response":{"thought":"a\\n', 'b\\"c","send_to":"User","message":"h', 'i"}}']
    fill(chunks, draft)
    attachment = draft.post.attachment_list[0]
    assert events == [
        AttachmentGrew("round-1", "Planner", attachment.id, "thought", "a\n", False),
        AttachmentGrew("round-1", "Planner", attachment.id, "thought", 'b"c', True),
        MessageGrew("round-1", "Planner", "h", "User", False),
        MessageGrew("round-1", "Planner", "i", "User", True),
    ]


class _Source:
    """Chunks as an async generator that tells when it was closed."""

    def __init__(self, chunks: list[str], error: Exception | None = None) -> None:
        self.chunks, self.error, self.closed, self.given = chunks, error, False, 0

    async def stream(self) -> AsyncIterator[str]:
        try:
            for chunk in self.chunks:
                self.given += 1
                yield chunk
            if self.error is not None:
                raise self.error
        finally:
            self.closed = True


@pytest.mark.anyio
async def test_an_async_stream_is_read_to_its_end() -> None:
    source, draft = _Source(list(answer(message="hi"))), new_draft()
    post = await PostTranslator.raw_text_to_post(source.stream(), draft)
    assert (post.message, post is draft.post, source.closed) == ("hi", True, True)


@pytest.mark.anyio
async def test_an_early_stop_closes_the_async_stream_at_once() -> None:
    source, draft = _Source(list(answer(thought="t", message="hi"))), new_draft()
    await PostTranslator.raw_text_to_post(source.stream(), draft, early_stop=lambda kind, _: kind == "thought")
    assert source.closed
    assert source.given < len(source.chunks)
    assert draft.raw_text == "".join(source.chunks[: source.given])


@pytest.mark.anyio
async def test_a_stream_that_fails_is_closed_and_leaves_an_incomplete_draft() -> None:
    source, draft = _Source(['{"response":{"message":"hi'], ConnectionError("gone")), new_draft()
    with pytest.raises(ConnectionError):
        await PostTranslator.raw_text_to_post(source.stream(), draft)
    assert (source.closed, draft.complete) == (True, False)
    with pytest.raises(InvalidResponseError, match="it was cut off"):
        require(draft, [])


@pytest.mark.anyio
async def test_a_stop_function_that_raises_closes_the_stream_too() -> None:
    source = _Source(list(answer(message="hi")))

    def stop(kind: str, value: str) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await PostTranslator.raw_text_to_post(source.stream(), new_draft(), early_stop=stop)
    assert source.closed


@pytest.mark.anyio
async def test_a_plain_generator_is_closed_on_early_stop_too() -> None:
    closed = []

    def stream() -> Iterator[str]:
        try:
            yield from answer(thought="t", message="hi")
        finally:
            closed.append(True)

    chunks = stream()
    await PostTranslator.raw_text_to_post(chunks, new_draft(), early_stop=lambda kind, _: True)
    assert closed == [True]


def test_validation_sees_the_post_and_what_it_raises_goes_through() -> None:
    seen: list[Post] = []
    draft = fill([answer(message="hi")], validation_func=seen.append)
    assert seen == [draft.post]

    def refuse(post: Post) -> None:
        raise InvalidResponseError("no")

    with pytest.raises(InvalidResponseError, match="no"):
        fill(["{"], validation_func=refuse)


def test_a_reply_of_ten_megabytes_is_read_in_small_chunks() -> None:
    text = answer(thought="x" * 1_000_000, message="line\n" * 2_000_000)
    draft = fill(text[start : start + 4096] for start in range(0, len(text), 4096))
    assert draft.complete
    assert draft.post.message == "line\n" * 2_000_000
    assert draft.raw_text == text


# --- require ----------------------------------------------------------------------------------------------


def test_require_names_every_missing_and_empty_field_at_once() -> None:
    draft = fill([answer(message=" ", plan="", thought="t")])
    with pytest.raises(InvalidResponseError) as caught:
        require(draft, ["send_to", "message", "init_plan", "plan", "thought"])
    assert str(caught.value) == (
        'The answer can not be used: the fields "send_to", "init_plan" are missing; '
        'the fields "message", "plan" are empty. '
        'Write the whole answer again, as one JSON object {"response": {…}}.'
    )
    assert caught.value.raw_text == draft.raw_text


def test_require_lets_a_field_be_empty_where_that_is_allowed() -> None:
    draft = fill([answer(message="", send_to="User")])
    require(draft, ["message", "send_to"], may_be_empty=["message"])


def test_an_empty_answer_is_named_as_such() -> None:
    with pytest.raises(InvalidResponseError, match=r'it is empty; the field "message" is missing\.'):
        require(fill([]), ["message"])


def test_a_good_answer_passes() -> None:
    require(fill([_CODE_ANSWER]), ["message", "send_to", "reply_content"])


# --- post_to_raw_text -------------------------------------------------------------------------------------


def test_a_post_without_attachments_is_its_recipient_and_message() -> None:  # TW-7
    post = Post.create("This is the message", "CodeInterpreter", "Planner")
    assert PostTranslator.post_to_raw_text(post) == (
        '{"response": {"send_to": "Planner", "message": "This is the message"}}'
    )
    assert PostTranslator.post_to_raw_text(post, if_format_message=False, if_format_send_to=False) == '{"response": {}}'


def test_a_post_is_written_as_the_answer_it_was_read_from() -> None:  # TW-8
    assert PostTranslator.post_to_raw_text(fill([_CODE_ANSWER]).post) == _CODE_ANSWER


def test_attachments_of_a_type_are_joined_and_shared_memory_is_left_out() -> None:  # TW-9
    entry = SharedMemoryEntry.create("plan", "round", "secret")
    post = Post.create(
        "m",
        "A",
        "B",
        [
            Attachment.create("thought", "a"),
            Attachment.create("plan", "p"),
            Attachment.create("shared_memory_entry", "secret", extra=entry),
            Attachment.create("thought", "b"),
        ],
    )
    ignored = [AttachmentType.thought]
    assert PostTranslator.post_to_raw_text(post) == (
        '{"response": {"thought": "a\\nb", "plan": "p", "send_to": "B", "message": "m"}}'
    )
    assert PostTranslator.post_to_raw_text(post, ignored_types=ignored) == (
        '{"response": {"plan": "p", "send_to": "B", "message": "m"}}'
    )
    assert ignored == [AttachmentType.thought]


def test_braces_in_a_thought_and_a_formatter_of_ones_own_do_no_harm() -> None:
    post = Post.create("é", "A", "B", [Attachment.create("thought", "{ROLE_NAME} and {x")])
    text = PostTranslator.post_to_raw_text(post, content_formatter=lambda each: each.content.replace("ROLE_NAME", "P"))
    assert text == '{"response": {"thought": "{P} and {x", "send_to": "B", "message": "\\u00e9"}}'


@given(st.text(), st.lists(st.tuples(st.sampled_from(["thought", "plan"]), st.text()), max_size=1))
def test_what_is_written_reads_back(message: str, attachments: list[tuple[str, str]]) -> None:
    post = Post.create(message, "Planner", "User", [Attachment.create(*each) for each in attachments])
    draft = fill([PostTranslator.post_to_raw_text(post)])
    assert (draft.post.message, draft.post.send_to) == (message, "User")
    assert _contents(draft) == attachments
