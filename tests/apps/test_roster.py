from __future__ import annotations

from pathlib import Path

import pytest

from apps.house import House
from roles_runtime.apps.config import read_config
from roles_runtime.apps.roster import make_team
from roles_runtime.errors import ConfigError
from roles_runtime.roles.echo import Echo
from roles_runtime.roles.turn import Answer, Respond, Turn
from roles_runtime.runtime.team import Team
from roles_runtime.tools.mcp import McpServer
from roles_runtime.tools.source import Only

ECHO = '[[role]]\ntype = "echo"\n'
SCRIPTED = 'model = "scripted:answers.json"\n'


@pytest.fixture(autouse=True)
def _answers(house: House) -> None:
    (house.folder / "answers.json").write_text('["hello"]', encoding="utf-8")
    (house.folder / "examples").mkdir()


def made(house: House, text: str) -> Team:
    return make_team(read_config(Path(house.team(text))))


def refused(house: House, text: str) -> str:
    path = house.team(text)
    with pytest.raises(ConfigError) as caught:
        make_team(read_config(Path(path)))
    return str(caught.value).removeprefix(str(house.folder) + "/")


def test_a_team_is_a_planner_and_a_code_interpreter_where_no_file_says_it(house: House) -> None:
    team = made(house, SCRIPTED)

    assert list(team.roles) == ["Planner", "CodeInterpreter"]
    assert team.leader.name == "Planner"


def test_a_role_is_made_as_its_entry_says(house: House) -> None:
    team = made(
        house,
        SCRIPTED
        + 'leader = "Boss"\n'
        + '[[role]]\ntype = "code_interpreter"\nmax_retry_count = 1\nexamples = "examples"\n'
        + '[[role]]\ntype = "model_role"\nname = "Boss"\nintro = "Leads."\ninstructions = "Be short."\n'
        + '[[role]]\ntype = "needy"\nword = "ha"\nsize = 2\n',
    )

    assert team.leader.name == "Boss"
    assert team.leader.intro == "Leads."
    assert vars(team.leader)["instructions"] == "Be short."
    assert vars(team.roles["CodeInterpreter"])["max_retry_count"] == 1
    assert (vars(team.roles["Needy"])["word"], vars(team.roles["Needy"])["size"]) == ("ha", 2)


def test_roles_that_name_no_model_share_that_of_the_team(house: House) -> None:
    (house.folder / "own.json").write_text('["hello"]', encoding="utf-8")
    team = made(
        house,
        SCRIPTED + '[[role]]\ntype = "planner"\n[[role]]\ntype = "code_interpreter"\nmodel = "scripted:own.json"\n',
    )

    models = [role.model for role in team.roles.values()]
    assert [getattr(model, "name", None) for model in models] == ["scripted:answers.json", "scripted:own.json"]


def kinds(team: Team) -> list[str]:
    return [type(each).__name__ for each in team.middleware]


async def outer(turn: Turn, respond: Respond) -> Answer:
    return await respond(turn)


def test_middleware_that_is_left_out_is_what_a_team_has_by_default_and_none_at_all_is_said_as_such(
    house: House,
) -> None:
    default = [type(each).__name__ for each in Team(Echo()).middleware]
    for text, expected in (("", default), ("middleware = []\n", [])):
        config = read_config(Path(house.team(text + ECHO)))
        assert kinds(make_team(config)) == expected
        assert kinds(make_team(config, outer)) == ["function", *expected]


def said(layer: object) -> object:
    return vars(layer)["said"]


def test_middleware_takes_the_options_of_its_type(house: House) -> None:
    team = made(
        house,
        'middleware = ["counting", { type = "counting", limit = 5, first = 1, names = ["a", "b"], folder = "f" },'
        ' { type = "counting", home = "h" }, { type = "counting_from", first = 3 }, "made", { type = "plain" }]\n'
        + ECHO,
    )
    *counted, plain = team.middleware
    assert [said(each) for each in counted] == [
        (0, (), None, None, None),
        (1, ("a", "b"), 5.0, "f", None),
        (0, (), None, None, Path("h")),
        (3, (), None, None, None),
        (7, (), None, None, None),
    ]
    assert vars(plain) == {}


def test_each_middleware_of_the_house_takes_its_options(house: House) -> None:
    team = made(
        house,
        'middleware = [{ type = "plan_tasks", strict = true, base_dir = "tasks", language = "zh" },'
        ' { type = "usage_limits", round_calls = 50 }, { type = "compaction", threshold_tokens = 9 },'
        ' { type = "result_reduction", preview_chars = 9 }, { type = "approval", tools = ["delete_*"] }]\n' + ECHO,
    )
    assert kinds(team) == ["PlanTasks", "UsageLimits", "Compaction", "ResultReduction", "Approval"]


def test_a_role_has_middleware_with_options_too(house: House) -> None:
    team = made(house, SCRIPTED + '[[role]]\ntype = "planner"\nmiddleware = [{ type = "counting", first = 2 }]\n')

    assert [said(each) for each in team.leader.middleware] == [(2, (), None, None, None)]


def test_a_team_speaks_the_language_that_its_file_says(house: House) -> None:
    assert made(house, 'language = "zh"\n' + ECHO).language == "zh"
    assert made(house, ECHO).language == "en"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('{ type = "counting", lmit = 1 }', "middleware[1].lmit: 'counting' has no such option; did you mean 'limit'?"),
        ('{ type = "counting", first = "1" }', "middleware[1].first: Expected `int`, got `str`."),
        ('{ type = "counting", names = "a" }', "middleware[1].names: Expected `array`, got `str`."),
        ('{ type = "counting", names = ["a", 1] }', "middleware[1].names: Expected `str`, got `int` - at `$[1]`."),
        ('{ type = "counting", home = 1 }', "middleware[1].home: Expected `str`."),
        ('{ type = "counting", limit = 13 }', "middleware[1].limit: it is 13."),
        ('{ type = "counting", other = 1 }', "middleware[1].other: a team file can not say this option"),
        ('"counting_from"', "middleware[1]: 'counting_from' needs a 'first'."),
        ('{ type = "plain", first = 1 }', "middleware[1].first: 'plain' takes no options."),
        ('"number"', "middleware[1]: 'number' is installed, but it is no middleware."),
        ('{ type = "usage_limits", round_calls = 0 }', "middleware[1].round_calls: it is 0 and must be 1 or more"),
        ('{ type = "usage_limits", round_calls = "50" }', "middleware[1].round_calls: Expected `int | null`, got"),
        ('{ type = "approval", tools = [""] }', "middleware[1].tools: '' is no name of a tool"),
        ('{ type = "plan_tasks", language = "fr" }', "middleware[1].language: Invalid enum value 'fr'"),
        ('{ type = "plan_tasks", backend = "x" }', "middleware[1].backend: a team file can not say this option"),
        ("{ round_calls = 1 }", "middleware[1]: it needs a 'type'."),
        ("5", "middleware[1]: it should be the name of a middleware, or a table with its type and options, not 5."),
        ("{ type = 5 }", "middleware[1].type: Input should be a valid string, not 5."),
    ],
)
def test_each_mistake_in_a_middleware_is_told_by_its_key(house: House, entry: str, told: str) -> None:
    assert "team.toml: " + told in refused(house, f'middleware = ["shouting", {entry}]\n{ECHO}')
    of_role = f'{SCRIPTED}[[role]]\ntype = "planner"\nmiddleware = ["shouting", {entry}]\n'
    assert "team.toml: role[0]." + told in refused(house, of_role)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('language = "fr"\n', "team.toml: language: Input should be 'en' or 'zh', not 'fr'."),
        ("language = 1\n", "team.toml: language: Input should be 'en' or 'zh', not 1."),
        ('middleware = "shouting"\n', "team.toml: middleware: Input should be a valid list, not 'shouting'."),
    ],
)
def test_what_a_team_can_not_be_is_told_by_its_key(house: House, text: str, told: str) -> None:
    assert told in refused(house, text + ECHO)


def test_middleware_with_options_may_stand_in_the_environment(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLES_LANGUAGE", "zh")
    monkeypatch.setenv("ROLES_MIDDLEWARE", '["shouting", {"type": "counting", "first": 2}]')
    team = made(house, ECHO)
    assert (team.language, kinds(team)) == ("zh", ["Shouting", "Counting"])
    monkeypatch.setenv("ROLES_MIDDLEWARE", '[{"type": "counting", "frst": 2}]')
    assert "environment: ROLES_MIDDLEWARE: 'counting' has no such option" in refused(house, ECHO)


def test_middleware_comes_by_name(house: House) -> None:
    team = made(house, 'middleware = ["shouting"]\n[[role]]\ntype = "echo"\n')

    assert [type(each).__name__ for each in team.middleware] == ["Shouting"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[[role]]\ntype = "plannr"',
            "team.toml: role[0].type: there is no role named 'plannr'; did you mean 'planner'?",
        ),
        (
            ECHO + '[[role]]\ntype = "x"',
            "team.toml: role[1].type: there is no role named 'x'; known are broken, careful, code",
        ),
        ('[[role]]\ntype = "number"', "team.toml: role[0].type: 'number' is installed, but it is no Role."),
        ('[[role]]\ntype = "broken"', "team.toml: role[0].type: The role 'broken' is installed but can not be loaded"),
        (
            ECHO + '[[role]]\ntype = "planner"\nmodel = "opnai:gpt"',
            "team.toml: role[1].model: there is no model provider 'opnai'; ",
        ),
        (
            'model = "scripted:missing.json"\n[[role]]\ntype = "planner"',
            "team.toml: model: Model scripted:missing.json: the script can not be used: missing.json: ",
        ),
        (
            '[[role]]\ntype = "echo"\nmodel = "scripted:answers.json"',
            "team.toml: role[0].model: 'echo' takes no 'model'.",
        ),
        ('[[role]]\ntype = "echo"\ndecorater = "x"', "role[0].decorater: 'echo' has no such option; did you mean 'dec"),
        ('[[role]]\ntype = "echo"\ndecorator = 5', "team.toml: role[0].decorator: Expected `str`, got `int`."),
        ('[[role]]\ntype = "needy"', "team.toml: role[0]: 'needy' needs a 'word'."),
        (SCRIPTED + '[[role]]\ntype = "model_role"', "team.toml: role[0]: 'model_role' needs a 'name'."),
        (ECHO + ECHO, "team.toml: role[1].name: two roles are named 'Echo'"),
        (ECHO + '[[role]]\ntype = "echo"\nname = "ECHO"', "team.toml: role[1].name: two roles are named 'ECHO'"),
        ('[[role]]\ntype = "echo"\nname = "User"', "team.toml: role: A role can not be named 'User'"),
        ('[[role]]\ntype = "echo"\nname = "\\u001b[31m"', "team.toml: role: '\\x1b[31m' can not be a role's name"),
        ('leader = "Eco"\n' + ECHO, "team.toml: leader: no role is named 'Eco'; did you mean 'Echo'?"),
        ('middleware = ["x"]\n' + ECHO, "team.toml: middleware[0]: there is no middleware named 'x'; "),
        (
            SCRIPTED + '[[role]]\ntype = "planner"\nmiddleware = ["shouting", "shotuing"]',
            "team.toml: role[0].middleware[1]: there is no middleware named 'shotuing'; did you mean 'shouting'?",
        ),
        (SCRIPTED + '[[role]]\ntype = "planner"\ntools = ["x"]', "team.toml: role[0].tools[0]: there is no tool named"),
        (
            SCRIPTED + '[[role]]\ntype = "planner"\nexamples = "nowhere"',
            "team.toml: role[0].examples: nowhere: there is",
        ),
    ],
)
def test_each_mistake_is_told_by_its_key(house: House, text: str, told: str) -> None:
    assert told in refused(house, text)


def test_a_model_of_the_command_line_is_told_as_such(house: House) -> None:
    with pytest.raises(ConfigError, match=r"^command line: --model: there is no model provider 'nobody'"):
        make_team(read_config(model="nobody:x"))


def test_a_model_of_the_environment_is_told_as_such(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLES_MODEL", "nobody:x")

    with pytest.raises(ConfigError, match=r"^environment: ROLES_MODEL: there is no model provider 'nobody'"):
        make_team(read_config())


FILES = '[mcp.files]\ncommand = ["files-server", "."]\nallow = ["read_file", "write_file"]\n'


HOUSE = 'model = ["scripted:answers.json", "house:m"]\n[provider.house]\ntype = "openai"\napi_key_env = "HOUSE_KEY"\n'


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nobody_is_asked_with_another_key_than_the_one_that_is_named(
    house: House, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-house")
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("HOUSE_KEY", value)
    told = refused(house, HOUSE)
    assert told.startswith("team.toml: provider.house.api_key_env: the environment has no such variable, or nothing")
    assert "HOUSE_KEY" not in told
    monkeypatch.setenv("HOUSE_KEY", "sk-of-this-house")
    assert made(house, HOUSE).roles


def test_a_role_is_handed_what_it_may_call_of_a_server(house: House) -> None:
    team = made(
        house,
        SCRIPTED
        + FILES
        + '[mcp.web]\nurl = "https://example.org/mcp"\n'
        + '[[role]]\ntype = "planner"\n'
        + '[[role]]\ntype = "model_role"\nname = "Clerk"\nmcp = { files = ["read_file"], web = ["*"] }\n',
    )

    some, everything = team.roles["Clerk"].tools
    assert isinstance(some, Only)
    assert (some.source.name, some.names) == ("files", ("read_file",))
    assert isinstance(everything, McpServer)
    assert repr(everything) == "McpServer('web')"
    assert team.roles["Planner"].tools == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[mcp.files]\ncomand = []\n", "mcp.files.comand: there is no such key; did you mean 'command'?"),
        ('[mcp.files]\nallow = ["a"]\n', "mcp.files: MCP server files: give it either a command="),
        ('[mcp.files]\ncommand = ["a"]\nurl = "https://x"\n', "give it either a command="),
        ('[mcp."a b"]\ncommand = ["a"]\n', "can not be an MCP server's name"),
        (
            '[mcp.files]\ncommand = ["a"]\nenv_from = ["NO_SUCH_KEY"]\n',
            "mcp.files: the environment has no 'NO_SUCH_KEY'",
        ),
        ('[mcp.files]\ncommand = ["a"]\nenv = { KEY = 5 }\n', "mcp.files.env.KEY: Input should be a valid string."),
        (FILES + '[[role]]\ntype = "planner"\nmcp = { fils = ["*"] }\n', "did you mean 'files'?"),
        (FILES + '[[role]]\ntype = "planner"\nmcp = { files = [] }\n', "role[0].mcp.files: name the tools"),
        (FILES + '[[role]]\ntype = "echo"\nmcp = { files = ["*"] }\n', "role[0].mcp: 'echo' takes no tools"),
    ],
)
def test_a_server_that_can_not_be_is_told_by_its_key(house: House, text: str, told: str) -> None:
    assert told in refused(house, SCRIPTED + text)


def test_a_server_is_given_the_variables_that_its_section_names(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-1")
    monkeypatch.setenv("OTHER_KEY", "sk-2")
    text = (
        '[mcp.files]\ncommand = ["a"]\nenv = { MODE = "x" }\nenv_from = ["SHOP_KEY"]\n'
        '[mcp.web]\nurl = "https://x"\nheaders_from = { Authorization = "OTHER_KEY" }\n'
    )
    settings = read_config(Path(house.team(SCRIPTED + text))).settings.mcp
    assert settings["files"].whole_env == {"SHOP_KEY": "sk-1", "MODE": "x"}
    assert settings["web"].whole_headers == {"Authorization": "sk-2"}
