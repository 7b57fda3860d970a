from __future__ import annotations

import pytest

from roles_runtime.errors import DocumentError
from roles_runtime.posts.shared import ColumnProfile, FileProfile, FileProfiles, SharedMemoryEntry


def test_an_entry_comes_back_from_its_dict_as_itself() -> None:
    entry = SharedMemoryEntry.create("example_sub_path", "conversation", "sales")
    assert list(entry.to_dict()) == ["type", "content", "scope", "id"]
    assert SharedMemoryEntry.from_dict(entry.to_dict()) == entry


@pytest.mark.parametrize("content", [{}, {"type": "gossip", "scope": "round", "content": "x"}, {"type": "plan"}])
def test_an_entry_of_the_wrong_shape_is_refused(content: dict[str, object]) -> None:
    with pytest.raises(DocumentError, match="shared_memory_entry"):
        SharedMemoryEntry.from_dict(content)


def test_file_profiles_come_back_from_their_text() -> None:
    column = ColumnProfile("区域", "text", distinct_count=2, distinct=("东", "西"))
    profiles = FileProfiles((FileProfile("orders.csv", 120, "csv", "pd.read_csv('orders.csv')", 3, (column,)),))
    assert FileProfiles.from_json(profiles.to_json()) == profiles


def test_text_that_is_no_profile_is_refused() -> None:
    with pytest.raises(DocumentError, match="file_profile"):
        FileProfiles.from_json('{"files": 3}')
