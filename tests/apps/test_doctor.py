from __future__ import annotations

import os

import pytest

from apps.house import ECHO, House
from telemetry.receivers import collecting

NO_CODE = ECHO + '[kernel]\ntype = "none"\n'


def findings(out: str) -> dict[str, tuple[str, str]]:
    rows = (line.split(maxsplit=2) for line in out.splitlines())
    return {about: (verdict, text) for verdict, about, text in rows}


def test_each_line_says_ok_where_all_is_well(house: House) -> None:
    done = house.here("doctor", "--team", house.team(ECHO + '[kernel]\ntype = "scripted"\n'))

    found = findings(done.stdout)
    assert list(found) == ["python", "team", "provider", "tracing", "folder", "store", "writing", "sandbox", "kernel"]
    assert found["team"] == ("ok", "Echo; Echo leads.")
    assert found["store"] == ("ok", f"sqlite:///{house.data}/roles.db, 0 sessions.")
    assert found["writing"] == ("ok", "the store takes entries.")
    assert [path.name for path in house.data.iterdir()] == ["roles.db"]
    # A scripted kernel computes nothing, and the doctor notices that.
    assert found["kernel"] == ("FAIL", "1 + 1 went wrong: ok")
    assert done.exit_code == 1


def test_a_real_kernel_computes(house: House) -> None:
    done = house.here("doctor", "--team", house.team())

    verdict, text = findings(done.stdout)["kernel"]
    assert (verdict, text.startswith("it computed 1 + 1 in ")) == ("ok", True)


@pytest.mark.parametrize(
    ("team", "options", "about", "told"),
    [
        ('[[role]]\ntype = "ecko"\n', (), "team", "did you mean 'echo'?"),
        (NO_CODE, ("--data-dir", "file/data"), "folder", "the data folder can not be made"),
        (NO_CODE, ("--store", "sqlite:///file"), "store", "file"),
        (ECHO + '[kernel]\ntype = "locl"\n', (), "kernel", "did you mean 'local'?"),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_is_still_looked_at(
    house: House, team: str, options: tuple[str, ...], about: str, told: str
) -> None:
    (house.folder / "file").write_bytes(b"no database " * 100)

    done = house.here("doctor", "--team", house.team(team), *options)

    found = findings(done.stdout)
    assert done.exit_code == 1
    assert found[about][0] == "FAIL"
    assert told in found[about][1]
    assert "kernel" in found


def test_a_data_folder_that_others_may_read_is_told(house: House) -> None:
    house.data.mkdir(mode=0o755)

    done = house.here("doctor", "--team", house.team(NO_CODE))

    assert findings(done.stdout)["folder"] == (
        "FAIL",
        f"{house.data} is open to others (mode 755); close it: chmod 700 {house.data}",
    )


class TestTracing:
    @pytest.fixture(autouse=True)
    def _no_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in [name for name in os.environ if name.startswith("OTEL_")]:
            monkeypatch.delenv(name)

    def test_is_off_where_nobody_wants_it(self, house: House) -> None:
        verdict, text = findings(house.here("doctor", "--team", house.team(NO_CODE)).stdout)["tracing"]

        assert (verdict, text.partition(";")[0]) == ("ok", "off")

    def test_is_well_where_something_listens(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        with collecting() as collector:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
            found = findings(house.here("doctor", "--team", house.team(NO_CODE)).stdout)

        assert found["tracing"] == ("ok", f"on; something listens at {collector.url.removeprefix('http://')}.")

    @pytest.mark.parametrize(
        ("name", "value", "verdict", "told"),
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9", "FAIL", "nobody takes traces at 127.0.0.1:9"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense", "FAIL", "is no URL"),
            ("OTEL_TRACES_EXPORTER", "console", "ok", "sends nothing to a collector"),
        ],
    )
    def test_says_what_is_wrong(
        self, name: str, value: str, verdict: str, told: str, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ROLES_TELEMETRY__TRACE", "true")
        monkeypatch.setenv(name, value)

        found = findings(house.here("doctor", "--team", house.team(NO_CODE)).stdout)["tracing"]

        assert found[0] == verdict
        assert told in found[1]
