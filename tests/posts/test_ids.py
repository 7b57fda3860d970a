from __future__ import annotations

import os
import re
import time
from itertools import pairwise

import pytest

from roles_runtime.posts.ids import create_id, reload_id, time_of


def test_an_id_is_a_utc_time_and_eight_hex_digits() -> None:
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", create_id())


def test_ids_are_ordered_and_unique_also_within_a_second() -> None:
    minted = [create_id() for _ in range(20_000)]
    assert all(first < second for first, second in pairwise(minted))


def test_a_reloaded_id_has_no_date_and_differs_each_time() -> None:
    assert re.fullmatch(r"[0-9a-f]{12}", reload_id())
    assert len({reload_id() for _ in range(1000)}) == 1000


def test_a_forked_child_does_not_mint_its_parents_next_ids() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, create_id().encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = pipe.read()
    ours = [create_id() for _ in range(100)]
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", theirs)
    assert theirs.rsplit("-")[-1] not in {each.rsplit("-")[-1] for each in ours}


def test_an_id_tells_when_it_was_made() -> None:
    before = int(time.time()) * 1000
    made = time_of("post-" + create_id())
    assert before <= made <= int(time.time()) * 1000
    assert time_of("post-20260102-030405-0000abcd") == 1767323045000


@pytest.mark.parametrize(
    "id", ["", "post-abc", "atta-0123456789ab", "post-20261302-030405-0000abcd", "x-٢٠٢٦٠١٠٢-030405-x"]
)
def test_an_id_without_a_time_tells_none(id: str) -> None:
    assert time_of(id) == 0
