"""The CodeInterpreter: what it runs and what it never runs, how it mends code, and what its prompt tells."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles.stage import Bench, Stage, attached, contents
from roles_runtime.errors import InvalidResponseError, KernelLostError, KernelUnavailableError, SandboxUnavailableError
from roles_runtime.kernels.kernel import Execution, Kernel
from roles_runtime.kernels.verification import Rules
from roles_runtime.llm.message import AssistantTextMessage, ConsoleMessage, TextMessage
from roles_runtime.llm.providers.scripted import Script, ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.conversation import ArtifactRef, Conversation, Round
from roles_runtime.posts.post import Post
from roles_runtime.posts.shared import SharedMemoryEntry
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.planner import Planner

pytestmark = pytest.mark.anyio

RUN_TYPES = [
    "thought",
    "reply_type",
    "reply_content",
    "verification",
    "code_error",
    "execution_status",
    "execution_result",
    "artifact_paths",
]


def written(content: str = "len(df)", kind: str = "python", **others: object) -> str:
    return json.dumps({"response": {"thought": "Count.", "reply_type": kind, "reply_content": content, **others}})


def ran(output: str = "42", **fields: Any) -> Execution:
    return Execution("exec-1", "code", **{"is_success": True, "output": output, **fields})


def failed(error: str = "Traceback\nKeyError: 'x'", **fields: Any) -> Execution:
    return Execution("exec-1", "code", **{"error": error, "outcome": "error", **fields})


def stage(replies: Script, *results: Execution | Exception, leads: bool = False, **options: Any) -> Stage:
    role = CodeInterpreter(model=ScriptedModel(replies, sequential=True), **options)
    others = () if leads else (Planner(),)
    return Stage(role, *others, leader=None if leads else "Planner", kernel=Bench(*results))


async def task(scene: Stage, message: str = "Count the rows.") -> Post:
    scene.opens("How many rows?")
    return await scene.asks(message, "Planner")


async def settled(scene: Stage) -> Post:
    scene.opens("How many rows?")
    return await scene.settles("Count the rows.", "Planner")


def requests(scene: Stage) -> list[LLMRequest]:
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    return model.requests


def code_run(scene: Stage) -> list[str]:
    assert isinstance(scene.kernel, Bench)
    return scene.kernel.ran


async def test_code_is_run_and_its_result_goes_to_whoever_asked() -> None:
    scene = stage([written()], ran(artifacts=(ArtifactRef("/keep/a.png", "image/png", "a.png", 3, "a"),)))
    post = await task(scene)
    assert isinstance(scene.kernel, Kernel)
    assert code_run(scene) == ["len(df)"]
    assert (post.send_from, post.send_to) == ("CodeInterpreter", "Planner")
    assert [each.type for each in post.attachment_list] == RUN_TYPES
    assert attached(post, AttachmentType.verification) == "NONE"
    assert attached(post, AttachmentType.execution_status) == "SUCCESS"
    assert attached(post, AttachmentType.artifact_paths) == "/keep/a.png"
    result = attached(post, AttachmentType.execution_result)
    assert "42" in result
    assert result in post.message
    assert "```python\nlen(df)\n```" in post.message
    assert "a.png" in post.message


async def test_it_says_what_it_is_busy_with() -> None:
    scene = stage([written()], ran())
    await task(scene)
    assert scene.statuses == ["composing prompt", "calling model", "receiving response", "executing code"]


async def test_the_call_ends_when_the_code_is_there() -> None:
    scene = stage([written(message="more", send_to="Echo") + "x" * 10_000], ran())
    post = await task(scene)
    assert post.send_to == "Planner"
    assert "x" * 100 not in scene.recorded[0].message  # type: ignore[union-attr]


async def test_code_may_come_before_its_type() -> None:
    raw = json.dumps({"response": {"reply_content": "1", "reply_type": "python", "thought": "t"}})
    scene = stage([raw], ran())
    assert (await task(scene)).send_to == "Planner"
    assert code_run(scene) == ["1"]


async def test_words_are_the_message_and_nothing_runs() -> None:
    scene = stage([written("There is no such file.", "text")])
    post = await task(scene)
    assert (post.send_to, post.message) == ("Planner", "There is no such file.")
    assert attached(post, AttachmentType.verification) == "NONE"
    assert attached(post, AttachmentType.execution_status) == "NONE"
    assert code_run(scene) == []


@pytest.mark.parametrize("kind", ["sample", "bash", "", "python;", "py thon", "Text?"])
async def test_an_unknown_reply_type_is_corrected_and_never_run(kind: str) -> None:
    scene = stage([written(kind=kind), written()], ran())
    post = await task(scene)
    assert post.send_to == "CodeInterpreter"
    assert "reply_type" in attached(post, AttachmentType.revise_message)
    assert attached(post, AttachmentType.invalid_response) == written(kind=kind)
    assert code_run(scene) == []
    assert (await scene.plays(post)).send_to == "Planner"


@pytest.mark.parametrize("kind", ["Python", " python\n", "PYTHON"])
async def test_a_reply_type_is_recognised_but_for_blanks_and_case(kind: str) -> None:
    assert attached(await task(stage([written(kind=kind)], ran())), AttachmentType.execution_status) == "SUCCESS"


@given(end=st.integers(min_value=1, max_value=len(written("import os; os.remove('a')")) - 4))
def test_d5_code_that_was_cut_off_is_never_run(end: int) -> None:
    scene = stage([written("import os; os.remove('a')")[:-end]], ran())
    post = asyncio.run(task(scene))
    if code_run(scene):
        assert code_run(scene) == ["import os; os.remove('a')"]
    else:
        assert post.send_to == "CodeInterpreter"
        assert post.get_attachment(AttachmentType.revise_message)


async def test_a_fence_round_the_code_is_not_run() -> None:
    scene = stage([written("```python\nx = 1\n```")], ran())
    await task(scene)
    assert code_run(scene) == ["x = 1"]


async def test_code_that_fails_is_mended_by_a_self_send() -> None:
    scene = stage([written(), written("df.shape[0]")], failed(), ran())
    post = await task(scene)
    assert post.send_to == "CodeInterpreter"
    assert [each.type for each in post.attachment_list] == [*RUN_TYPES, "revise_message"]
    assert attached(post, AttachmentType.execution_status) == "FAILURE"
    assert "KeyError: 'x'" in attached(post, AttachmentType.revise_message)
    assert (await scene.plays(post)).send_to == "Planner"
    assert code_run(scene) == ["len(df)", "df.shape[0]"]


async def test_tw_81_code_that_fails_four_times_goes_to_the_requester_with_its_failure() -> None:
    scene = stage([written()] * 4, *[failed()] * 4)
    post = await settled(scene)
    posts = scene.conversation.rounds[0].post_list
    assert [each.send_to for each in posts[1:]] == ["CodeInterpreter"] * 3 + ["Planner"]
    assert [each.type for each in post.attachment_list] == RUN_TYPES
    assert attached(post, AttachmentType.execution_status) == "FAILURE"
    assert "KeyError: 'x'" in post.message


async def test_tw_81_junk_four_times_goes_to_the_requester_in_one_line() -> None:
    scene = stage(["junk"] * 4)
    post = await settled(scene)
    assert [each.send_to for each in scene.conversation.rounds[0].post_list[1:]] == ["CodeInterpreter"] * 3 + [
        "Planner"
    ]
    assert post.message == "Failed to generate code."
    assert not post.get_attachment(AttachmentType.revise_message)


async def test_fewer_self_corrections_than_the_team_allows() -> None:
    scene = stage([written()] * 2, failed(), failed(), max_retry_count=1)
    assert (await settled(scene)).send_to == "Planner"
    assert len(code_run(scene)) == 2


async def test_one_that_leads_ends_its_round_after_its_last_failure() -> None:
    scene = stage([written()] * 4, *[failed()] * 4, leads=True)
    with pytest.raises(InvalidResponseError, match="after 3 self-corrections: The code failed: KeyError"):
        await scene.settles("Count the rows.")
    with pytest.raises(InvalidResponseError, match="no JSON object"):
        await stage(["junk"] * 4, leads=True).settles("Count the rows.")


async def test_one_that_leads_answers_the_user() -> None:
    assert (await stage([written()], ran(), leads=True).asks("Count the rows.")).send_to == "User"


async def test_a_lost_kernel_is_told_as_a_correction() -> None:
    scene = stage([written(), written("import pandas")], KernelLostError("it was killed"), ran())
    post = await task(scene)
    assert post.send_to == "CodeInterpreter"
    assert attached(post, AttachmentType.execution_status) == "FAILURE"
    told = attached(post, AttachmentType.revise_message)
    assert "it was killed" in told
    assert "variables are gone" in told
    assert (await scene.plays(post)).send_to == "Planner"


@pytest.mark.parametrize(("outcome", "told"), [("lost", "every import"), ("timeout", "does less at once")])
async def test_how_a_cell_ended_tells_the_model_what_to_do(outcome: str, told: str) -> None:
    post = await task(stage([written()], failed("", outcome=outcome)))
    assert told in attached(post, AttachmentType.revise_message)


async def test_without_a_kernel_the_round_can_not_go_on() -> None:
    with pytest.raises(SandboxUnavailableError):
        await task(stage([written()], SandboxUnavailableError("no bwrap")))
    scene = stage([written()])
    scene.kernel = None
    with pytest.raises(KernelUnavailableError, match="needs a kernel"):
        await task(scene)


async def test_a_long_result_is_told_in_its_round_only() -> None:
    scene = stage([written(), written("1"), written("2")], ran("9" * 3000), ran("1"), ran("2"))
    first = await task(scene)
    assert "9" * 3000 in attached(first, AttachmentType.execution_result)
    assert "DELIMITER" not in attached(first, AttachmentType.execution_result)
    await scene.asks("Again.", "Planner")
    assert any("9" * 3000 in text for text in contents(requests(scene)[-1].messages))
    await task(scene, "In the next round.")
    told = requests(scene)[-1].messages
    assert not any("9" * 3000 in text for text in contents(told))
    (console, _) = (each for each in told if isinstance(each, ConsoleMessage))
    assert console.content == console.console_reses[0].result == console.console_reses[0].summary_result
    assert "The execution was successful." in console.content
    said = Stage(Planner(), conversation=scene.conversation).memory.get_role_rounds("Planner")
    assert "9" * 3000 not in said[0].post_list[1].message


async def test_tw_59_the_prompt_tells_what_was_written_and_what_came_of_it() -> None:
    scene = stage([written("df = 1"), written("len(df)")], ran("1"), ran("2"))
    await task(scene, "Load the file.")
    await scene.asks("Count the rows.", "Planner")
    first, second = (request.messages for request in requests(scene))
    assert [type(each) for each in second[1:]] == [TextMessage, AssistantTextMessage, ConsoleMessage, TextMessage]
    assert second[2].content == written("df = 1")
    assert "The result is:\n1" in second[3].content
    assert "The user's request:\nHow many rows?" in second[4].content
    assert "Your task, from Planner:\nCount the rows." in second[4].content
    assert "Requirements:" in second[4].content
    assert "user's request" not in second[1].content
    assert "Requirements:" not in second[1].content
    assert "user's request" in first[1].content
    assert [each.msg_id for each in second[1:3]] == [post.id for post in scene.conversation.rounds[0].post_list[:2]]


async def test_tw_60_a_correction_is_told_with_the_failure_and_the_requirements() -> None:
    scene = stage([written(), written()], failed(), ran())
    await scene.plays(await task(scene))
    told = requests(scene)[-1].messages
    assert [type(each) for each in told[1:]] == [TextMessage, AssistantTextMessage, ConsoleMessage, TextMessage]
    assert "The execution failed." in told[3].content
    assert "KeyError" in told[3].content
    assert "The code failed: KeyError: 'x'" in told[4].content
    assert "Requirements:" in told[4].content
    assert "user's request" not in told[4].content


async def test_tw_61_the_plans_of_others_stand_before_the_task() -> None:
    scene = stage([written()], ran())
    scene.opens("How many rows?")
    for name, plan in (("Planner", "count, then report"), ("Critic", "check twice")):
        entry = SharedMemoryEntry.create("plan", "round", plan)
        shared = Attachment.create(AttachmentType.shared_memory_entry, plan, extra=entry)
        scene.conversation.rounds[-1].add_post(Post.create("", name, "User", [shared]))
    await scene.asks("Count the rows.", "Planner")
    told = requests(scene)[-1].messages[-1].content
    assert told.startswith("Additional context:\ncount, then report\ncheck twice\n\n")
    assert told.index("check twice") < told.index("Count the rows.")


async def test_an_answer_that_was_no_json_is_told_as_the_pair() -> None:
    scene = stage(["junk", written()], ran())
    await scene.plays(await task(scene))
    told = requests(scene)[-1].messages
    assert [type(each) for each in told[1:]] == [TextMessage, AssistantTextMessage, TextMessage]
    assert told[2].content == "junk"
    assert "no JSON object" in told[3].content


async def test_examples_come_first_without_their_requirements() -> None:
    example = Conversation.create(
        [
            Round.create(
                "q",
                post_list=[
                    Post.create("Say hi.", "Planner", "CodeInterpreter"),
                    Post.create(
                        "hi",
                        "CodeInterpreter",
                        "Planner",
                        [
                            Attachment.create("reply_type", "python"),
                            Attachment.create("reply_content", "print('hi')"),
                            Attachment.create("execution_result", "hi"),
                        ],
                    ),
                ],
            )
        ]
    )
    scene = stage([written()], ran(), examples=[example])
    await task(scene)
    told = requests(scene)[0].messages
    assert [type(each) for each in told[1:]] == [TextMessage, AssistantTextMessage, ConsoleMessage, TextMessage]
    assert "Requirements:" not in told[1].content
    assert "Say hi." in told[1].content
    assert all(each.creator != "CodeInterpreter" for each in told if isinstance(each, AssistantTextMessage))


async def test_the_system_message_tells_the_schema_and_leaves_braces_alone() -> None:
    scene = stage([written()], ran(), instructions="Use {thought}.")
    await task(scene)
    request = requests(scene)[0]
    assert request.response_schema is not None
    assert request.response_schema["title"] == "CodeInterpreter"
    assert json.dumps(request.response_schema, ensure_ascii=False) in request.messages[0].content
    assert "Use {thought}." in request.messages[0].content


async def test_code_that_breaks_the_rules_is_told_them_and_not_run() -> None:
    scene = stage([written("import os\nos.system('ls')"), written("len(df)")], ran(), rules=Rules())
    post = await task(scene)
    assert post.send_to == "CodeInterpreter"
    assert [each.type for each in post.attachment_list] == [*RUN_TYPES, "revise_message"]
    assert attached(post, AttachmentType.verification) == "INCORRECT"
    assert "Line 1" in attached(post, AttachmentType.code_error)
    assert attached(post, AttachmentType.execution_status) == "NONE"
    assert "Line 1" in attached(post, AttachmentType.revise_message)
    assert code_run(scene) == []
    mended = await scene.plays(post)
    assert attached(mended, AttachmentType.verification) == "CORRECT"
    assert code_run(scene) == ["len(df)"]
    system, told = contents(requests(scene)[-1].messages)[0], requests(scene)[-1].messages[3]
    assert "Import only these modules: pandas" in system
    assert isinstance(told, ConsoleMessage)
    assert "Line 1" in told.content
    assert scene.statuses[-2:] == ["verifying code", "executing code"]


async def test_tw_81_code_that_breaks_the_rules_four_times_goes_to_the_requester() -> None:
    scene = stage([written("eval('1')")] * 4, rules=Rules())
    post = await settled(scene)
    assert [each.send_to for each in scene.conversation.rounds[0].post_list[1:]] == ["CodeInterpreter"] * 3 + [
        "Planner"
    ]
    assert [each.type for each in post.attachment_list] == RUN_TYPES
    assert "eval" in post.message
    assert code_run(scene) == []
