"""The Planner: its prompt, what it accepts of its model, and how it corrects itself."""

from __future__ import annotations

import json
from typing import cast

import pytest

from roles.stage import Stage, attached, contents
from roles_runtime.errors import InvalidResponseError, ModelError, ModelMissingError
from roles_runtime.llm.message import AssistantTextMessage, SystemMessage, TextMessage
from roles_runtime.llm.model import Finish, TextChunk
from roles_runtime.llm.parts import JsonObject
from roles_runtime.llm.providers.scripted import Script, ScriptedModel
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import Conversation, Round, RoundState
from roles_runtime.posts.event import AttachmentGrew, MessageGrew, ModelReplied, PostWithdrawn
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import FileProfile, FileProfiles, SharedMemoryEntry
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.planner import Planner

pytestmark = pytest.mark.anyio

INTERPRETER = Echo("CodeInterpreter", intro="Runs code.")


def answered(send_to: object = "CodeInterpreter", message: object = "Count the rows.", **others: object) -> str:
    fields = {
        "plan_reasoning": "One step.",
        "init_plan": "1. count\n2. report <wide depend on 1>",
        "plan": "1. count\n2. report",
        "current_plan_step": "1. count",
        "stop": "Completed" if send_to == "User" else "InProcess",
        "send_to": send_to,
        "message": message,
    }
    return json.dumps({"response": {key: value for key, value in {**fields, **others}.items() if value is not ...}})


def stage(replies: Script, **options: object) -> Stage:
    planner = Planner(model=ScriptedModel(replies, sequential=True))
    return Stage(planner, INTERPRETER, Echo(), **options)  # type: ignore[arg-type]


def requests(stage: Stage) -> list[tuple[str, ...]]:
    model = stage.role.model
    assert isinstance(model, ScriptedModel)
    return [tuple(contents(request.messages)) for request in model.requests]


async def test_a_valid_answer_goes_to_its_recipient_with_its_plan_and_a_shared_entry() -> None:
    scene = stage([answered()])
    post = await scene.asks("How many rows?")
    assert (post.send_from, post.send_to, post.message) == ("Planner", "CodeInterpreter", "Count the rows.")
    assert [each.type for each in post.attachment_list] == [
        "plan_reasoning",
        "init_plan",
        "plan",
        "current_plan_step",
        "stop",
        "shared_memory_entry",
    ]
    shared = post.attachment_list[-1].extra
    assert isinstance(shared, SharedMemoryEntry)
    assert (shared.type, shared.scope) == ("plan", "round")
    assert "1. count\n2. report" in shared.content


async def test_an_answer_to_the_user_shares_its_plan_too() -> None:
    post = await stage([answered("User", "42 rows.")]).asks("How many rows?")
    assert post.send_to == "User"
    assert len(post.get_attachment(AttachmentType.shared_memory_entry)) == 1


async def test_the_answer_streams_out_while_it_comes_and_the_call_is_journalled() -> None:
    scene = stage([answered()])
    post = await scene.asks("How many rows?")
    assert scene.statuses == ["composing prompt", "calling model", "receiving response"]
    assert "".join(event.text for event in scene.shown if isinstance(event, MessageGrew)) == post.message
    plan = "".join(e.text for e in scene.shown if isinstance(e, AttachmentGrew) and e.type == "plan")
    assert plan == attached(post, AttachmentType.plan)
    (replied,) = scene.recorded
    assert isinstance(replied, ModelReplied)
    assert (replied.turn, replied.model, replied.reason) == (scene.turn_id, "scripted", "stop")
    message = AssistantTextMessage.model_validate_json(replied.message)
    assert (message.content, message.creator) == (answered(), "Planner")


async def test_the_prompt_tells_the_team_the_schema_and_the_time() -> None:
    scene = stage([answered()])
    await scene.asks("How many rows?")
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    (request,) = model.requests
    system = request.messages[0]
    assert isinstance(system, SystemMessage)
    assert system.creator == "Planner"
    assert "- CodeInterpreter: Runs code." in system.content
    assert "UTC" in system.content
    assert json.dumps(request.response_schema, ensure_ascii=False) in system.content
    assert request.response_schema is not None
    assert request.response_schema["title"] == "Planner"
    response = cast("JsonObject", cast("JsonObject", request.response_schema["properties"])["response"])
    fields = cast("dict[str, JsonObject]", response["properties"])
    assert fields["send_to"]["enum"] == ["CodeInterpreter", "Echo", "User"]
    assert response["required"] == [*fields]
    assert "{" not in system.content.replace(json.dumps(request.response_schema, ensure_ascii=False), "")


async def test_tw_57_the_conversation_is_told_as_messages() -> None:
    scene = stage([answered(), answered("User", "42 rows."), answered("User", "Hello.")])
    await scene.asks("How many rows?")
    await scene.asks("42", "CodeInterpreter")
    scene.conversation.rounds[-1].change_round_state(RoundState.finished)
    await scene.asks("hello")
    told = requests(scene)[-1]
    assert len(told) == 6
    assert told[1] == "From: User\nMessage: Let's start the new conversation!\nHow many rows?\n"
    assert told[3] == "From: CodeInterpreter\nMessage: 42\n"
    assert told[5] == "From: User\nMessage: hello\n"
    first = json.loads(told[2])["response"]
    assert first["send_to"] == "CodeInterpreter"
    assert {"init_plan", "plan", "current_plan_step", "message"} <= first.keys()
    assert "shared_memory_entry" not in first


async def test_messages_stand_for_posts_by_creator_and_id() -> None:
    scene = stage([answered(), answered("User", "42 rows.")])
    await scene.asks("How many rows?")
    await scene.asks("42", "CodeInterpreter")
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    messages = model.requests[-1].messages[1:]
    assert [(type(each), each.creator) for each in messages] == [
        (TextMessage, "User"),
        (AssistantTextMessage, "Planner"),
        (TextMessage, "CodeInterpreter"),
    ]
    assert [each.msg_id for each in messages] == [post.id for post in scene.conversation.rounds[0].post_list[:3]]


async def test_tw_58_examples_come_first_and_the_conversation_has_a_start_of_its_own() -> None:
    example = Conversation.create(
        [
            Round.create(
                "count",
                post_list=[
                    Post.create("count the rows of data.csv", "User", "Planner"),
                    Post.create("Count them.", "Planner", "CodeInterpreter", [Attachment.create("plan", "1. count")]),
                    Post.create("between others", "CodeInterpreter", "Echo"),
                ],
            )
        ]
    )
    model = ScriptedModel([answered()])
    scene = Stage(Planner(model=model, examples=[example]), INTERPRETER)
    post = await scene.asks("hello")
    assert post.send_to == "CodeInterpreter"  # the example's answer was not counted as one of this conversation
    recording = ScriptedModel([answered()], sequential=True)
    scene = Stage(Planner(model=recording, examples=[example]), INTERPRETER)
    await scene.asks("hello")
    told = contents(recording.requests[0].messages)
    assert told[1] == "From: User\nMessage: Let's start the new conversation!\ncount the rows of data.csv\n"
    assert told[-1] == "From: User\nMessage: Let's start the new conversation!\nhello\n"
    assert len(told) == 4


async def test_files_stand_in_the_prompt_by_their_profiles() -> None:
    scene = stage([answered()])
    profiles = FileProfiles((FileProfile("orders {a}.csv", 12, "csv"),)).to_json()
    entry = SharedMemoryEntry.create("file_profile", "conversation", profiles)
    scene.opens("How many rows?")
    shared = Attachment.create(AttachmentType.shared_memory_entry, profiles, extra=entry)
    await scene.plays(Post.create("How many rows?", "User", "Planner", [shared]))
    lines = requests(scene)[0][0].splitlines()
    at = lines.index("Files in the workspace (file_profile, JSON):")
    assert FileProfiles.from_json(lines[at + 1]).files[0].name == "orders {a}.csv"


async def test_d14_braces_in_what_is_said_are_left_alone() -> None:
    model = ScriptedModel([answered()], sequential=True)
    scene = Stage(Planner(model=model, instructions="Say {team} and {nothing} {}."), Echo("E", intro="{schema} {0}"))
    await scene.asks("{name} {")
    told = contents(model.requests[0].messages)
    assert "Say {team} and {nothing} {}." in told[0]
    assert "- E: {schema} {0}" in told[0]
    assert "{name} {" in told[1]


@pytest.mark.parametrize("send_to", ["codeinterpreter", "  CodeInterpreter\n", "CODEINTERPRETER "])
async def test_a_recipient_is_recognised_but_for_blanks_and_case(send_to: str) -> None:
    assert (await stage([answered(send_to)]).asks("?")).send_to == "CodeInterpreter"


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (answered("sql_pull_data"), "'sql_pull_data', who is not in the team; it must be one of: CodeInterpreter"),
        (answered("Planner"), "must not be Planner itself"),
        (answered(" planner"), "must not be Planner itself"),
        (answered("Unknown"), '"send_to" is empty'),
        (answered(None), '"send_to" is empty'),
        (answered(message="  "), '"message" is empty'),
        (answered(plan=...), '"plan" is missing'),
        (
            answered(init_plan="", current_plan_step=...),
            '"current_plan_step" is missing; the field "init_plan" is empty',
        ),
        (answered("User", "Working on it.", stop="InProcess"), "stop is InProcess, but the message is for User"),
        (answered("User", "Working on it.", stop=" in_process"), "stop is InProcess"),
        ('{"response":{"message":"hi"}}', '"send_to", "init_plan", "plan", "current_plan_step"'),
        ("", "it is empty"),
        ("Sure, I will count them!", "no JSON object"),
        (answered()[:-20], "it ends inside"),
    ],
)
async def test_b1_b3_b4_b9_a_faulty_answer_is_a_self_send_that_says_what_is_wrong(raw: str, told: str) -> None:
    scene = stage([raw, answered()])
    post = await scene.asks("How many rows?")
    assert (post.send_from, post.send_to) == ("Planner", "Planner")
    assert [each.type for each in post.attachment_list] == ["invalid_response", "revise_message"]
    assert attached(post, AttachmentType.invalid_response) == raw
    assert told in attached(post, AttachmentType.revise_message)
    assert told in post.message
    mended = await scene.plays(post)
    assert mended.send_to == "CodeInterpreter"


async def test_a_faulty_answer_that_was_shown_is_withdrawn() -> None:
    scene = stage([answered("nobody")])
    await scene.asks("?")
    assert isinstance(scene.shown[-1], PostWithdrawn)


async def test_the_next_prompt_has_the_faulty_answer_and_what_was_wrong_with_it() -> None:
    scene = stage([answered("nobody"), answered()])
    await scene.settles("How many rows?")
    told = requests(scene)[-1]
    assert told[2] == answered("nobody")
    assert "'nobody', who is not in the team" in told[3]
    assert len(told) == 4


async def test_b3_an_empty_answer_leaves_no_empty_turn_of_the_assistant() -> None:
    scene = stage(["", answered()])
    assert (await scene.settles("How many rows?")).send_to == "CodeInterpreter"
    told = requests(scene)[-1]
    assert all(text.strip() for text in told)
    assert len(told) == 3
    assert "it is empty" in told[2]


async def test_b2_reasoning_and_a_fence_before_the_answer_are_taken_off() -> None:
    scene = stage([f"<think>hmm {{x}}</think>\n```json\n{answered()}\n```"])
    assert (await scene.asks("?")).send_to == "CodeInterpreter"


async def test_self_corrections_are_bounded_and_the_last_fault_is_told() -> None:
    scene = stage(['{"response":{"message":"hi"}}'] * 4)
    with pytest.raises(InvalidResponseError, match=r"after 3 self-corrections: .*send_to.*are missing") as raised:
        await scene.settles("?")
    assert raised.value.raw_text == '{"response":{"message":"hi"}}'
    assert scene.corrections == 3
    assert len(scene.conversation.rounds[0].post_list) == 4


async def test_d6_the_bound_is_of_one_round() -> None:
    scene = stage([answered("nobody"), answered()] * 5)
    for _ in range(5):
        assert (await scene.settles("?")).send_to == "CodeInterpreter"


async def test_an_answer_cut_off_at_the_models_limit_is_corrected_even_where_its_json_is_whole() -> None:
    scene = stage([(TextChunk(answered()), Finish("length"))])
    post = await scene.asks("?")
    assert post.send_to == "Planner"
    assert "cut off" in attached(post, AttachmentType.revise_message)


async def test_a_huge_faulty_answer_is_kept_by_its_beginning() -> None:
    post = await stage(["x" * 1_000_000]).asks("?")
    kept = attached(post, AttachmentType.invalid_response)
    assert len(kept) < 20_000
    assert "1,000,000 characters" in kept


async def test_a_refusal_and_a_model_that_is_down_end_the_turn_with_their_line() -> None:
    with pytest.raises(ModelError, match="refused to answer: I can not"):
        await stage([(TextChunk("I can not."), Finish("refusal"))]).asks("?")
    scene = stage([(TextChunk(answered()[:180]), ModelError("m", "it is down."))])
    with pytest.raises(ModelError, match="it is down"):
        await scene.asks("?")
    assert isinstance(scene.shown[-1], PostWithdrawn)


async def test_without_a_model_it_says_how_to_get_one() -> None:
    with pytest.raises(ModelMissingError, match="Planner has no model"):
        await Stage(Planner(), Echo()).asks("?")


async def test_an_unknown_stop_is_let_pass() -> None:
    assert (await stage([answered("User", "Done.", stop="Fine")]).asks("?")).send_to == "User"


async def test_tw_78_a_failed_round_is_not_told() -> None:
    scene = stage([answered(), answered()])
    await scene.asks("first")
    scene.conversation.rounds[0].change_round_state(RoundState.failed)
    await scene.asks("second")
    told = requests(scene)[-1]
    assert len(told) == 2
    assert "second" in told[1]
    assert "start the new conversation" in told[1]
