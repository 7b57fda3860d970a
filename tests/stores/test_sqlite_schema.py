"""The file: its versions, and which SQLite may keep a write-ahead log."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from roles_runtime.errors import StoreVersionError
from roles_runtime.stores.sqlite_schema import APPLICATION_ID, MIGRATIONS, journal_mode, open_for_writing

SECOND = "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('migrated');"


@pytest.mark.parametrize(
    ("version", "mode"),
    [
        ("3.51.3", "wal"),
        ("3.54.1", "wal"),
        ("4.0.0", "wal"),
        ("3.50.7", "wal"),
        ("3.44.6", "wal"),
        ("3.51.2", "truncate"),
        ("3.50.6", "truncate"),
        ("3.45.9", "truncate"),
        ("3.44.5", "truncate"),
        ("3.40.1", "truncate"),
    ],
)
def test_a_log_is_kept_only_where_it_can_not_corrupt_the_file(version: str, mode: str) -> None:
    assert journal_mode(version) == mode


def test_a_new_file_is_durable_and_marked_as_ours(tmp_path: Path) -> None:
    connection = open_for_writing(str(tmp_path / "s.db"), 1)

    assert connection.pragma("application_id") == APPLICATION_ID
    assert connection.pragma("user_version") == len(MIGRATIONS)
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    connection.close()


def test_an_older_file_is_brought_up_to_date_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    old = open_for_writing(path, 1)
    old.execute("INSERT INTO session (id) VALUES ('kept')")
    old.close()

    new = open_for_writing(path, 1, [*MIGRATIONS, SECOND])

    assert new.execute("SELECT text FROM note").fetchall() == [("migrated",)]
    assert new.execute("SELECT id FROM session").fetchall() == [("kept",)]
    assert new.pragma("user_version") == len(MIGRATIONS) + 1
    new.close()
    with pytest.raises(StoreVersionError):
        open_for_writing(path, 1)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    open_for_writing(path, 1).close()

    with pytest.raises(Exception, match="no such table: nowhere"):
        open_for_writing(path, 1, [*MIGRATIONS, SECOND + "INSERT INTO nowhere VALUES (1);"])

    connection = open_for_writing(path, 1)
    assert not connection.table_exists(None, "note")
    connection.close()


def test_reading_a_session_touches_only_the_index(tmp_path: Path) -> None:
    connection = open_for_writing(str(tmp_path / "s.db"), 1)
    plan = connection.execute("EXPLAIN QUERY PLAN SELECT position FROM entry WHERE session = 1 ORDER BY position")

    assert any("USING COVERING INDEX entry_key" in str(row[-1]) for row in plan)
    connection.close()


def test_the_pinned_sqlite_keeps_a_log() -> None:
    assert journal_mode(apsw.sqlite_lib_version()) == "wal"
