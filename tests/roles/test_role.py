"""ModelRole: any role that thinks with a model; and Echo, which does not."""

from __future__ import annotations

import json

import pytest

from roles.stage import Stage, attached, contents
from roles_runtime.errors import InvalidResponseError, RoleError, ToolDefinitionError
from roles_runtime.llm.calls import ToolCall, ToolReturn
from roles_runtime.llm.message import AssistantTextMessage, ToolMessage
from roles_runtime.llm.model import Finish, Model, TextChunk, ToolCallChunk
from roles_runtime.llm.providers.scripted import Script, ScriptedModel
from roles_runtime.llm.request import LLMRequest
from roles_runtime.posts.attachment import AttachmentType
from roles_runtime.posts.event import MessageGrew, ModelReplied, PostWithdrawn, ToolReturned
from roles_runtime.posts.post import Post
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.planner import Planner
from roles_runtime.roles.role import ModelRole
from roles_runtime.roles.thinking import MAX_TOOL_ROUNDS
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.tools.tool import tool

pytestmark = pytest.mark.anyio


@tool
async def add(left: int, right: int) -> int:
    """Adds."""
    return left + right


def calls(*arguments: str, text: str = "") -> tuple[TextChunk | ToolCallChunk | Finish, ...]:
    made = [ToolCallChunk(ToolCall(call_id=f"c{n}", name="add", arguments=each)) for n, each in enumerate(arguments)]
    return (TextChunk(text), *made, Finish("tool_calls"))


def reviewer(replies: Script, **options: object) -> ModelRole:
    model = ScriptedModel(replies, sequential=True)
    return ModelRole("Reviewer", intro="Reviews SQL.", instructions="Be brief.", model=model, **options)  # type: ignore[arg-type]


def stage(replies: Script, **options: object) -> Stage:
    return Stage(reviewer(replies, **options), Planner(), Echo(), leader="Planner")


def requests(scene: Stage) -> list[LLMRequest]:
    model = scene.role.model
    assert isinstance(model, ScriptedModel)
    return model.requests


async def review(scene: Stage, message: str = "Review this.") -> Post:
    if not scene.conversation.rounds:
        scene.opens("Is my query good?")
    return await scene.asks(message, "Planner")


async def test_a_json_answer_goes_to_whom_it_names() -> None:
    post = await review(stage(['{"response": {"send_to": " echo", "message": "Say it."}}']))
    assert (post.send_from, post.send_to, post.message) == ("Reviewer", "Echo", "Say it.")


async def test_a_json_answer_without_a_recipient_goes_to_whoever_asked() -> None:
    post = await review(stage(['{"response": {"message": "It is fine."}}']))
    assert (post.send_to, post.message) == ("Planner", "It is fine.")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("It is fine.", "It is fine."),
        ("\n  It is fine.", "It is fine."),
        ('{"rows": 42}', '{"rows": 42}'),
        ("```sql\nselect 1\n```", "```sql\nselect 1\n```"),
        ("<think>hm {</think>It is fine.", "It is fine."),
        ("[1, 2]", "[1, 2]"),
        ("<b>fine</b>", "<b>fine</b>"),
        ('Here it is: {"response": {"message": "It is fine."}}', "It is fine."),
    ],
)
async def test_a_plain_answer_goes_to_whoever_asked(raw: str, message: str) -> None:
    post = await review(stage([raw]))
    assert (post.send_to, post.message) == ("Planner", message)


async def test_a_plain_answer_streams_out_while_it_comes() -> None:
    scene = stage(["It is a long and fine query."])
    await review(scene)
    pieces = [event.text for event in scene.shown if isinstance(event, MessageGrew)]
    assert len(pieces) > 3
    assert "".join(pieces) == "It is a long and fine query."


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ('{"response": {"message": ""}}', "empty"),
        ('{"response": {"message": "cut', "it ends inside"),
        ('{"response": {"send_to": "nobody", "message": "x"}}', "'nobody', who is not in the team"),
        ('{"response": {"send_to": "Reviewer", "message": "x"}}', "must not be Reviewer itself"),
        ("<think>only this</think>", "empty"),
    ],
)
async def test_a_faulty_answer_is_corrected(raw: str, told: str) -> None:
    scene = stage([raw, "It is fine."])
    post = await review(scene)
    assert post.send_to == "Reviewer"
    assert told in attached(post, AttachmentType.revise_message)
    assert (await scene.plays(post)).message == "It is fine."


async def test_a_role_that_may_correct_itself_no_more_says_so() -> None:
    scene = stage([""] * 4)
    scene.opens("?")
    with pytest.raises(InvalidResponseError, match="no usable answer after 3 self-corrections"):
        await scene.settles("Review this.", "Planner")


async def test_the_prompt_holds_the_instructions_the_team_and_the_conversation() -> None:
    scene = stage(["Fine.", "Still fine."])
    await review(scene)
    await review(scene, "And now?")
    request = requests(scene)[-1]
    told = contents(request.messages)
    assert "Be brief." in told[0]
    assert "- Echo: Repeats what it is told." in told[0]
    assert "Reviews SQL." in told[0]
    assert "- Reviewer" not in told[0]
    assert "{" not in told[0].replace(json.dumps(request.response_schema), "")
    assert told[1:] == [
        "From: Planner\nMessage: Let's start the new conversation!\nReview this.\n",
        '{"response": {"send_to": "Planner", "message": "Fine."}}',
        "From: Planner\nMessage: And now?\n",
    ]
    assert request.response_schema is not None
    assert request.response_schema["title"] == "Reviewer"


async def test_tools_are_called_and_their_results_told_until_the_model_answers() -> None:
    scene = stage([calls('{"left": 1, "right": 2}', '{"left": "x"}', text="Let me add."), "The sum is 3."], tools=[add])
    post = await review(scene)
    assert post.message == "The sum is 3."
    first, second = requests(scene)
    assert [spec.name for spec in first.tools] == ["add"]
    asked, told = second.messages[-2:]
    assert isinstance(asked, AssistantTextMessage)
    assert [call.call_id for call in asked.tool_calls] == ["c0", "c1"]
    assert isinstance(told, ToolMessage)
    assert told.tool_reses[0] == ToolReturn(call_id="c0", name="add", result="3")
    assert told.tool_reses[1].is_error
    assert any(isinstance(event, PostWithdrawn) for event in scene.shown)
    assert "calling add" in scene.statuses


async def test_model_calls_and_tool_results_are_journalled_in_order() -> None:
    scene = stage([calls('{"left": 1, "right": 2}', "7"), "The sum is 3."], tools=[add])
    await review(scene)
    kinds = [(type(event), event.outcome) for event in scene.recorded]  # type: ignore[union-attr]
    assert kinds == [(ModelReplied, "ok"), (ToolReturned, "ok"), (ToolReturned, "error"), (ModelReplied, "ok")]
    returned = scene.recorded[1]
    assert isinstance(returned, ToolReturned)
    assert (returned.turn, returned.call_id, returned.tool) == (scene.turn_id, "c0", "add")
    assert ToolReturn.model_validate_json(returned.result).result == "3"


async def test_tools_of_the_turn_come_after_those_of_the_role() -> None:
    @tool
    async def subtract(left: int, right: int) -> int:
        return left - right

    scene = stage(["Fine."], tools=[add])
    scene.opens("?")
    await scene.asks("Review.", "Planner", tools=[subtract])
    assert [spec.name for spec in requests(scene)[0].tools] == ["add", "subtract"]
    with pytest.raises(ToolDefinitionError, match="'add' already"):
        await scene.asks("Review.", "Planner", tools=[add])


async def test_a_model_that_only_calls_tools_is_told_to_answer_and_then_stopped() -> None:
    call = calls('{"left": 1, "right": 2}')
    scene = stage([call] * (MAX_TOOL_ROUNDS + 1) + ["Well, 3."], tools=[add])
    assert (await review(scene)).message == "Well, 3."
    told = requests(scene)[-1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert "answer now" in told.tool_reses[0].result
    with pytest.raises(RoleError, match="gave no answer"):
        await review(stage([call] * (MAX_TOOL_ROUNDS + 2), tools=[add]))


async def test_middleware_of_the_role_is_an_onion_the_first_outermost() -> None:
    order = []

    def layer(name: str):  # type: ignore[no-untyped-def]
        async def middleware(turn: Turn, respond: Respond) -> Answer:
            order.append(name)
            answer = await respond(turn.with_tools(add)) if name == "outer" else await respond(turn)
            order.append(name)
            return answer

        return middleware

    scene = stage(["Fine."], middleware=[layer("outer"), layer("inner")])
    await review(scene)
    assert order == ["outer", "inner", "inner", "outer"]
    assert [spec.name for spec in requests(scene)[0].tools] == ["add"]


async def test_several_posts_of_a_joined_fan_out_are_told_one_by_one() -> None:
    scene = stage(["Both agree."])
    scene.opens("?")
    posts = [Post.create(f"opinion of {name}", name, "Reviewer") for name in ("Echo", "Planner")]
    await scene.plays(*posts)
    assert contents(requests(scene)[0].messages)[1:] == [
        "From: Echo\nMessage: Let's start the new conversation!\nopinion of Echo\n",
        "From: Planner\nMessage: opinion of Planner\n",
    ]


async def test_one_role_object_serves_sessions_side_by_side() -> None:
    model = ScriptedModel(["one", "two"])
    role = ModelRole("Reviewer", model=model)
    scenes = [Stage(role, Echo()) for _ in range(3)]
    assert [(await scene.asks("?")).message for scene in scenes] == ["one"] * 3
    assert [(await scene.asks("?")).message for scene in scenes] == ["two"] * 3
    assert isinstance(model, Model)


async def test_echo_repeats_what_it_is_told_to_whoever_said_it() -> None:
    scene = Stage(Echo(decorator="*"), Planner(), leader="Planner")
    scene.opens("?")
    post = await scene.asks("hey {name} \x1b[2J", "Planner")
    assert (post.send_from, post.send_to, post.message) == ("Echo", "Planner", "*hey {name} \x1b[2J*")
    assert (await Stage(Echo()).asks("hey")).send_to == "User"
