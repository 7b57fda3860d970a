from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest

from roles_runtime.apps.assemble import make_kernels, make_runtime
from roles_runtime.apps.config import DEFAULT_MODEL, MAX_BYTES, read_config
from roles_runtime.errors import ConfigError
from roles_runtime.runtime.limits import Limits

NAMES = [field.name for field in msgspec.structs.fields(Limits)]


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ROLES_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def team(text: str) -> Path:
    path = Path("team.toml")
    path.write_text(text, encoding="utf-8")
    return path


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        _ = read_config(team(text)).limits
    return str(caught.value)


class TestEachLimit:
    @pytest.mark.parametrize("name", NAMES)
    def test_takes_effect_from_the_file(self, name: str) -> None:
        limits = read_config(team(f"[limits]\n{name} = 7\n")).limits

        assert limits == Limits(**{name: 7})

    @pytest.mark.parametrize("name", NAMES)
    def test_takes_effect_from_the_environment_before_the_file(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(f"ROLES_LIMITS__{name.upper()}", "8")

        limits = read_config(team(f"[limits]\n{name} = 7\n")).limits

        assert limits == Limits(**{name: 8})

    @pytest.mark.parametrize("name", NAMES)
    def test_takes_effect_from_the_constructor(self, name: str) -> None:
        assert getattr(Limits(**{name: 9}), name) == 9

    @pytest.mark.parametrize("name", NAMES)
    def test_has_one_default(self, name: str) -> None:
        assert getattr(read_config().limits, name) == getattr(Limits(), name)

    def test_reaches_the_runtime(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_DATA_DIR", "data")
        monkeypatch.setenv("ROLES_LIMITS__MAX_QUEUED_ASKS", "5")

        runtime = make_runtime(read_config(team('[[role]]\ntype = "echo"\n[limits]\ngrace_s = 2\n')))

        assert runtime.limits == Limits(max_queued_asks=5, grace_s=2.0)


class TestPrecedence:
    def test_the_command_line_comes_before_the_environment_before_the_file(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = team('model = "file"\nstore = "file"\ndata_dir = "file"\n')
        monkeypatch.setenv("ROLES_MODEL", "environment")
        monkeypatch.setenv("ROLES_STORE", "environment")

        settings = read_config(file, model="option").settings

        assert (settings.model, settings.store, settings.data_dir) == ("option", "environment", "file")

    def test_a_section_is_merged_key_by_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_LIMITS__GRACE_S", "1")

        limits = read_config(team("[limits]\ncell_timeout_s = 2\n")).limits

        assert (limits.grace_s, limits.cell_timeout_s, limits.turn_timeout_s) == (1.0, 2.0, 300.0)

    def test_a_team_file_in_the_current_folder_is_not_read_unasked(self) -> None:
        team('model = "evil:model"\n')

        assert read_config().settings.model == DEFAULT_MODEL

    def test_the_store_is_in_the_data_folder_where_nobody_says_another(self) -> None:
        config = read_config(data_dir="here")

        assert config.store == f"sqlite:///{Path('here').absolute()}/roles.db"

    def test_the_options_of_a_kernel_reach_its_maker(self) -> None:
        config = read_config(team("[kernel]\nidle_s = 5\nmax_live = 2\n"))

        assert vars(make_kernels(config)).items() >= {"_idle_s": 5.0, "_max_live": 2}.items()

    def test_a_kernel_that_takes_no_such_option_says_so(self) -> None:
        config = read_config(team('[kernel]\ntype = "scripted"\nmax_live = 2\n'))

        with pytest.raises(ConfigError, match=r"^team.toml: kernel.max_live: 'scripted' takes no 'max_live'."):
            make_kernels(config)

    def test_a_kernel_that_is_not_installed_is_told_with_those_there_are(self) -> None:
        config = read_config(team('[kernel]\ntype = "locl"\n'))

        with pytest.raises(ConfigError, match=r"^team.toml: kernel.type: .* did you mean 'local'\?"):
            make_kernels(config)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("modl = 'x'", "team.toml: modl: there is no such key; did you mean 'model'?"),
            ("[limits]\nturn_timeout = 3", "team.toml: limits.turn_timeout: .* did you mean 'turn_timeout_s'?"),
            (
                "[kernel]\nsandbox = false",
                "team.toml: kernel.sandbox: there is no such key; known are type, idle_s, max_live.",
            ),
            (
                "[kernel]\nmax_live = 0",
                "team.toml: kernel.max_live: Input should be greater than or equal to 1, not 0.",
            ),
            ("unsafe_no_sandbox = true", "team.toml: unsafe_no_sandbox: there is no such key"),
            ("model = 3", "team.toml: model: it should be provider:model, or a list of these, not 3."),
            ("[limits]\ngrace_s = '3'", "team.toml: limits.grace_s: Input should be a valid number, not '3'."),
            ("[limits]\nmax_queued_asks = true", "limits.max_queued_asks: Input should be a valid integer, not True."),
            ("[limits]\nmax_queued_asks = 1.5", "limits.max_queued_asks: Input should be a valid integer"),
            ("[limits]\nturn_timeout_s = -1", "team.toml: limits.turn_timeout_s: -1.0 is out of range"),
            ("[limits]\nturn_timeout_s = inf", "team.toml: limits.turn_timeout_s: inf is out of range"),
            ("[limits]\nturn_timeout_s = nan", "team.toml: limits.turn_timeout_s: nan is out of range"),
            ("limits = 3", "team.toml: limits: "),
            ("role = 'planner'", "team.toml: role: Input should be a valid list"),
            ("[[role]]\nname = 'x'", "team.toml: role[0]: it needs a 'type'."),
            ("[[role]]\ntype = 'echo'\n[[role]]\ntype = 3", "team.toml: role[1].type: Input should be a valid string"),
            ("[[role]]\ntype = 'echo'\ntools = 'x'", "team.toml: role[0].tools: Input should be a valid list"),
            ("[telemetry]\njaeger_url = 'jaeger'", "team.toml: telemetry.jaeger_url: it must begin with http://"),
            ("[telemetry]\nlog = 'loud'", "team.toml: telemetry.log: Input should be 'debug', 'info'"),
            (
                "[provider.openai]\nbase_url = 'ftp://h'",
                "team.toml: provider.openai.base_url: it must begin with http:// or https://.",
            ),
            (
                "[provider.openai]\nbase_url = 'http://'",
                "team.toml: provider.openai.base_url: it must be an address, as http://HOST:PORT.",
            ),
            ("[provider.openai]\nbase_url = 'http://h:port'", "provider.openai.base_url: it must be an address"),
            (
                "[provider.openai]\ntop_p = 'much'",
                "team.toml: provider.openai.top_p: Input should be a valid number, not 'much'.",
            ),
            ("a = b", "team.toml: file: it is no TOML: Invalid value (at line 1, column 5)."),
            ("a = " + "[" * 5000, "team.toml: file: it is no TOML: "),
        ],
    )
    def test_name_the_file_and_the_key(self, text: str, told: str) -> None:
        message = refused(text)

        head, _, tail = told.partition(" .* ")
        assert message.startswith(head) or head in message
        assert tail in message

    @pytest.mark.parametrize(
        "text",
        [
            "provider = 'KEY'",
            "[provider]\nopenai = 'KEY'",
            "[provider.openai]\napi_key = 'KEY'",
            "[provider.openai]\napi_key_env = ['KEY']",
            "[provider.openai]\nbase_url = 'KEY'",
            "[provider.openai]\nbase_url = 'https://user:KEY@h:port'",
            "[provider.openai]\nparams = 'KEY'",
        ],
    )
    def test_do_not_repeat_a_key_that_stands_there_by_mistake(self, text: str) -> None:
        message = refused(text.replace("KEY", "sk-0123456789"))

        assert message.startswith("team.toml: provider")
        assert "sk-0123456789" not in message

    def test_name_the_variable_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_LIMITS__TURN_TIMEOUT_S", "soon")

        assert refused("[limits]\nturn_timeout_s = 3").startswith("environment: ROLES_LIMITS__TURN_TIMEOUT_S: ")

    def test_name_a_variable_that_is_out_of_range(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_LIMITS__GRACE_S", "-2")

        assert refused("").startswith("environment: ROLES_LIMITS__GRACE_S: -2.0 is out of range")

    def test_name_a_variable_of_no_setting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_LIMITS__GRACE", "2")

        assert refused("").startswith("environment: ROLES_LIMITS__GRACE: there is no such key; did you mean 'grace_s'?")

    def test_tell_of_a_variable_that_is_no_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ROLES_ROLE", "{")

        assert refused("").startswith("environment: ROLES_")


class TestTheFile:
    def test_may_have_a_byte_order_mark(self) -> None:
        Path("team.toml").write_bytes(b"\xef\xbb\xbfmodel = 'x'")

        assert read_config(Path("team.toml")).settings.model == "x"

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"model = '\xff'", "team.toml: line 1: it is not UTF-8"),
            (b"# a\n\nx='\xc4'", "team.toml: line 3: it is not UTF-8"),
            (b"\x00\x01\x02", "team.toml: file: it is no TOML"),
            (b"#" * (MAX_BYTES + 1), "team.toml: file: it is larger than 1,048,576 bytes."),
        ],
        ids=["latin-1", "latin-1 on line 3", "binary", "huge"],
    )
    def test_is_refused_with_its_name_where_it_is_no_text_in_toml(self, content: bytes, told: str) -> None:
        Path("team.toml").write_bytes(content)

        with pytest.raises(ConfigError, match=f"^{re.escape(told)}"):
            read_config(Path("team.toml"))

    def test_is_refused_where_it_is_missing_a_folder_or_a_pipe(self) -> None:
        os.mkdir("folder")
        os.mkfifo("pipe")

        for name, told in [("missing", "No such file"), ("folder", "no regular file"), ("pipe", "no regular file")]:
            with pytest.raises(ConfigError, match=f"^{name}: file: .*{told}"):
                read_config(Path(name))
