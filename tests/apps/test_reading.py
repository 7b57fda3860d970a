"""``sessions``, ``show`` and ``doctor`` where nothing may or can be written, and where there is nothing yet."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Callable, Iterator

import pytest

from apps.house import ECHO, House

NO_CODE = ECHO + '[kernel]\ntype = "none"\n'

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def obey_permissions() -> None:
    """Root goes on without the capabilities by which it overrules them."""
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0


def find_the_disk_full() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


@pytest.fixture
def asked(house: House) -> Iterator[House]:
    """A house where one question was asked, and whose data folder and store may not be written to."""
    house.team(NO_CODE)
    assert house.here("ask", "How many?", "--session", "s", "--team", "team.toml").exit_code == 0
    (house.data / "roles.db").chmod(0o400)
    house.data.chmod(0o500)
    yield house
    house.data.chmod(0o700)


@pytest.mark.parametrize("first", [obey_permissions, find_the_disk_full])
def test_sessions_and_show_read_where_nothing_can_be_written(asked: House, first: Callable[[], None]) -> None:
    listed = asked.run("sessions", "--team", "team.toml", first=first)
    shown = asked.run("show", "s", "--team", "team.toml", first=first)

    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.splitlines()[1].startswith("s\t")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Echo -> User: How many?" in shown.stdout
    assert os.listdir(asked.data) == ["roles.db"]


@pytest.mark.parametrize(
    ("first", "mend"), [(obey_permissions, "name a place with room and rights"), (find_the_disk_full, "make room")]
)
def test_the_doctor_counts_what_can_be_read_and_tells_how_it_can_be_written_to(
    asked: House, first: Callable[[], None], mend: str
) -> None:
    done = asked.run("doctor", "--team", "team.toml", first=first)

    assert (done.returncode, done.stderr) == (1, "")
    found = {line.split()[1]: line for line in done.stdout.splitlines()}
    assert found["store"] == f"ok    store     sqlite:///{asked.data}/roles.db, 1 sessions."
    assert found["writing"].startswith(f"FAIL  writing   {asked.data}/roles.db")
    assert mend in found["writing"]
    assert "kernel" in found


def test_where_there_is_no_store_yet_reading_says_so_and_makes_nothing(house: House) -> None:
    listed = house.here("sessions")
    as_json = house.here("sessions", "--json", "--store", "sqlite:///deep/roles.db")
    shown = house.here("show", "s")

    assert (listed.exit_code, listed.stdout) == (0, "There is no session yet.\n")
    assert (as_json.exit_code, as_json.stdout) == (0, "[]\n")
    assert shown.exit_code == 2
    assert "There is no session 's' in this store" in shown.stderr
    assert not house.data.exists()
    assert not (house.folder / "deep").exists()
