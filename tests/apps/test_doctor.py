from __future__ import annotations

import pytest

from apps.house import ECHO, House

NO_CODE = ECHO + '[kernel]\ntype = "none"\n'


def findings(out: str) -> dict[str, tuple[str, str]]:
    rows = (line.split(maxsplit=2) for line in out.splitlines())
    return {about: (verdict, text) for verdict, about, text in rows}


def test_each_line_says_ok_where_all_is_well(house: House) -> None:
    done = house.here("doctor", "--team", house.team(ECHO + '[kernel]\ntype = "scripted"\n'))

    found = findings(done.stdout)
    assert list(found) == ["python", "team", "provider", "folder", "store", "writing", "sandbox", "kernel"]
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
