"""What models are told in each language: the same things, in words of that language, and the rules know both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import msgspec
import pytest

from llm.rules.desk import orders
from roles.stage import Bench, Stage, attached, contents
from roles_runtime.errors import InvalidResponseError, KernelLostError
from roles_runtime.kernels.kernel import Execution
from roles_runtime.kernels.verification import Rules
from roles_runtime.llm.providers.rules import RulesModel
from roles_runtime.llm.providers.scripted import ScriptedModel
from roles_runtime.posts.attachment import Attachment, AttachmentType
from roles_runtime.posts.post import USER, Post
from roles_runtime.posts.shared import FILE_PROFILE_HEADING, FileProfiles, SharedMemoryEntry
from roles_runtime.roles.code_interpreter import CodeInterpreter
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.languages import words
from roles_runtime.roles.middleware.compaction import Compaction
from roles_runtime.roles.planner import Planner
from roles_runtime.roles.role import ModelRole
from roles_runtime.tools.tasks.languages import LANGUAGES
from roles_runtime.tools.tasks.words import Language

pytestmark = pytest.mark.anyio

_PLACE = re.compile(r"\{(\w+)[^}]*\}")
RAN = Execution("exec-1", "code", is_success=True, output="42")
FAILED = Execution("exec-2", "code", error="ZeroDivisionError: division by zero", outcome="error")

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def texts(told: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Each text of the words, by where it stands."""
    if isinstance(told, str):
        yield key, told
    elif isinstance(told, Mapping):
        for name, each in told.items():
            yield from texts(each, f"{key}.{name}")
    elif isinstance(told, tuple):
        for index, each in enumerate(told):
            yield from texts(each, f"{key}[{index}]")
    else:
        assert isinstance(told, msgspec.Struct)
        yield from texts(msgspec.structs.asdict(told), key)


def test_each_language_tells_the_same_with_the_same_places() -> None:
    english, chinese = (dict(texts(words(language))) for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert set(_PLACE.findall(text)) == set(_PLACE.findall(chinese[key])), key
        assert not _CHINESE.search(text), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fault_says_at_its_last_what_to_do(language: Language) -> None:
    told = words(language)
    assert told.again in told.fault
    assert told.again in told.faults.told


def with_orders(message: str, sender: str, to: str) -> Post:
    entry = SharedMemoryEntry.create("file_profile", "conversation", FileProfiles((orders().file,)).to_json())
    return Post.create(message, sender, to, [Attachment.create("shared_memory_entry", "", extra=entry)])


def coder(language: Language, *results: Execution | Exception) -> tuple[Stage, Bench]:
    bench = Bench(*results)
    role = CodeInterpreter(model=RulesModel())
    scene = Stage(role, Echo("Planner"), leader="Planner", kernel=bench, language=language)
    scene.opens("Total sales by region")
    return scene, bench


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_rules_play_a_coder_of_any_language_also_after_a_lost_kernel(language: Language) -> None:
    scene, bench = coder(language, KernelLostError("It died."), RAN)
    first = await scene.plays(with_orders("Total sales by region", "Planner", "CodeInterpreter"))
    assert attached(first, AttachmentType.revise_message).endswith(words(language).from_scratch)
    second = await scene.plays(first)
    assert second.send_to == "Planner"
    assert "The execution was successful.\nThe result is:\n42" in second.message
    english, expected = coder("en", RAN)
    await english.plays(with_orders("Total sales by region", "Planner", "CodeInterpreter"))
    assert bench.ran == expected.ran * 2


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_rules_play_a_planner_of_any_language(language: Language) -> None:
    scene = Stage(Planner(model=RulesModel()), CodeInterpreter(), language=language)
    scene.opens("总销售额是多少?")
    handed = await scene.plays(with_orders("总销售额是多少?", USER, "Planner"))
    assert handed.send_to == "CodeInterpreter"
    result = "The execution was successful.\nThe result is:\n42"
    told = await scene.plays(Post.create(result, "CodeInterpreter", "Planner"))
    assert (told.send_to, attached(told, AttachmentType.stop)) == (USER, "Completed")
    assert "42" in told.message


def prompts(scene: Stage) -> list[list[str]]:
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    return [list(contents(request.messages)) for request in model.requests]


PLAN = {"init_plan": "1. 数", "plan": "1. 数", "current_plan_step": "1. 数"}


def planned(**fields: str) -> str:
    return json.dumps({"response": {**PLAN, "stop": "InProcess", "message": "数一数", **fields}})


async def test_a_chinese_planner_is_told_everything_in_chinese() -> None:
    replies = [planned(send_to="nobody"), planned(send_to="User"), planned(message=""), planned(send_to="Echo")]
    team = (CodeInterpreter(), Echo(intro="Repeats."))
    scene = Stage(Planner(model=ScriptedModel(replies, sequential=True)), *team, language="zh")
    answer = await scene.settles("多少行?")
    assert answer.get_attachment("shared_memory_entry")[0].content == (
        "Planner 按照以下计划工作：\n计划：\n1. 数\n当前步骤：1. 数"
    )
    first, *_, last = prompts(scene)
    system = first[0]
    assert system.startswith("你是 Planner，团队的负责人")
    assert "- CodeInterpreter：在有状态的 notebook 中" in system
    assert "- Echo：Repeats." in system
    assert '"description": "消息发给谁。"' in system
    assert re.search(r"现在的时间是 \d{4}-\d\d-\d\d 星期. \d\d:\d\d UTC。", system)
    assert [text for text in last if text.endswith("请重新写出完整的回答。")] == [
        "send_to 是 'nobody'，团队中没有这个成员；它必须是以下之一：CodeInterpreter, Echo, User。"
        "请重新写出完整的回答。",
        "stop 是 InProcess，但消息发给了 User，而这会结束工作。"
        "请把消息发给接下来要行动的成员（CodeInterpreter, Echo），"
        "或者用 stop 说明工作为什么结束：Completed, Clarification, AdditionalInformation, SecurityRisks, TaskFailure。"
        "请重新写出完整的回答。",
    ]
    assert last[-1] == (
        '这个回答无法使用：缺少字段 "send_to"；字段 "message" 为空。'
        '请重新写出完整的回答，即一个 JSON 对象 {"response": {…}}。'
    )


async def test_an_error_that_ends_a_chinese_round_leaves_out_what_its_model_was_told_to_do() -> None:
    model = ScriptedModel([planned(send_to="nobody")] * 2, sequential=True)
    scene = Stage(Planner(model=model), Echo(), language="zh", max_corrections=1)
    with pytest.raises(InvalidResponseError) as caught:
        await scene.settles("?")
    assert str(caught.value).startswith("no usable answer after 1 self-corrections: send_to 是 'nobody'")
    assert "重新" not in str(caught.value)


async def test_a_chinese_coder_is_told_everything_in_chinese() -> None:
    replies = [
        json.dumps({"response": {"thought": "t", "reply_type": kind, "reply_content": code}})
        for kind, code in (("bash", "ls"), ("python", "import os"), ("python", "1/0"), ("text", "不行"))
    ]
    role = CodeInterpreter(model=ScriptedModel(replies, sequential=True), rules=Rules())
    bench = Bench(FAILED)
    scene = Stage(role, Echo("Planner"), leader="Planner", kernel=bench, language="zh")
    scene.opens("多少行?")
    plan = SharedMemoryEntry.create("plan", "round", "先数, 再报告")
    carried = [Attachment.create("shared_memory_entry", "", extra=plan)]
    answer = await scene.plays(Post.create("数行数", "Planner", "CodeInterpreter", carried))
    while answer.send_to == "CodeInterpreter":
        answer = await scene.plays(answer)
    first, *_, last = prompts(scene)
    assert first[0].startswith("你是 CodeInterpreter。")
    assert "- 只能导入以下模块：pandas、matplotlib、numpy" in first[0]
    assert first[1].startswith("补充背景：\n先数, 再报告\n\n用户的请求：\n多少行?\n\n")
    assert "\n你的任务，来自 Planner：\n数行数\n\n要求：\n- 只使用" in first[1]
    told = "\n".join(last)
    assert "reply_type 是 'bash'；它必须是 python 或 text。请重新写出完整的回答。" in told
    assert "代码没有运行，因为它违反了以下规则：\n- Line 1: " in told
    assert "代码运行失败：ZeroDivisionError: division by zero\n请找出原因" in told


async def test_a_chinese_role_of_any_kind_is_told_who_it_is_in_chinese() -> None:
    model = ScriptedModel(["好"], sequential=True)
    scene = Stage(ModelRole("审阅者", intro="审阅 SQL。", model=model), language="zh")
    scene.opens("?")
    await scene.plays(with_orders("?", USER, "审阅者"))
    system = prompts(scene)[0][0]
    assert system.startswith("你是 审阅者，团队的一名成员。审阅 SQL。\n\n## 你的团队\n- （没有其他成员）\n")
    # For machines, so that it stays as it is.
    assert FILE_PROFILE_HEADING in system


async def test_a_chinese_role_has_its_old_rounds_summarised_in_chinese() -> None:
    model = ScriptedModel(["一", "二", "用户数了数", "三"], sequential=True)
    compaction = Compaction(threshold_tokens=0, rounds_to_compress=1, rounds_to_retain=2)
    scene = Stage(ModelRole("Worker", model=model, middleware=[compaction]), language="zh")
    for question in ("1?", "2?", "3?"):
        await scene.asks(question)
    *_, asked, last = prompts(scene)
    assert asked[0] == words("zh").minutes
    assert asked[1].startswith("请为接手的人总结下面的对话。")
    assert "\n较早对话的摘要（原文不再显示）：\n用户数了数\n" in last[0]
