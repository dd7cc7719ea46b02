"""Results in files: the reference leads to the text it stands for, whatever the id says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.checkpoints import recognise
from compaction.errors import StoreError
from compaction.persist import FolderStore, Persisted, persist, stored_name

LONG = "x" * 30_001


def test_a_text_at_the_limit_stays(tmp_path: Path) -> None:
    assert persist(LONG[1:], "id", FolderStore(folder=tmp_path / "store").store) is None
    assert not (tmp_path / "store").exists()


def test_a_long_text_leaves_a_preview_and_the_way_to_all_of_it(tmp_path: Path) -> None:
    result = persist(LONG, "id", FolderStore(folder=tmp_path / "store").store)
    assert result is not None
    assert (result.original_chars, result.preview) == (30_001, "x" * 2_000)
    assert Path(result.pointer).read_text() == LONG
    found = recognise(result.text, "result")
    assert found is not None
    assert (found.mark.system, found.mark.kind, found.figures["path"]) == ("s08", "spilled", result.pointer)


def test_stored_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = Path(FolderStore(folder=tmp_path / "store").store("text", "a.txt"))
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@given(tool_id=st.text(max_size=300))
def test_no_id_chooses_a_place(tool_id: str) -> None:
    name = stored_name("text", tool_id)
    assert Path(name).name == name
    assert not name.startswith(".")
    assert len(name) <= 200


@pytest.mark.parametrize("tool_id", ["../../evil", "/etc/evil", "..", "a/../../b", "C:\\evil", "\0", ""])
def test_hostile_ids_stay_inside(tmp_path: Path, tool_id: str) -> None:
    result = persist(LONG, tool_id, FolderStore(folder=tmp_path / "store").store)
    assert result is not None
    assert Path(result.pointer).resolve().parent == tmp_path / "store"


def test_another_text_of_the_same_id_is_another_file(tmp_path: Path) -> None:
    store = FolderStore(folder=tmp_path).store
    first, second = persist(LONG, "id", store), persist(LONG + "y", "id", store)
    assert first is not None
    assert second is not None
    assert [len(Path(one.pointer).read_text()) for one in (first, second)] == [30_001, 30_002]


def test_a_file_that_holds_something_else_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("older")
    assert Path(FolderStore(folder=tmp_path).store("newer", "a.txt")).read_text() == "newer"


def test_a_link_in_the_store_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("untouched")
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "a.txt").symlink_to(outside)
    path = Path(FolderStore(folder=folder).store("text", "a.txt"))
    assert outside.read_text() == "untouched"
    assert not path.is_symlink()
    assert path.read_text() == "text"


@pytest.mark.parametrize("name", ["../a", "a/b", ".hidden", "", "a" * 201])
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError):
        FolderStore(folder=tmp_path).store("text", name)


def test_a_store_that_fails_leaves_the_text_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert persist(LONG, "id", FolderStore(folder=tmp_path / "file").store) is None
    assert persist(LONG, "id", lambda text, name: None) is None


def test_what_would_stand_for_a_text_must_be_shorter_than_it() -> None:
    assert persist("x" * 2_050, "id", lambda text, name: "place", above_chars=100) is None
    assert persist("x" * 3_000, "id", lambda text, name: "place", above_chars=100) is not None


def test_the_text_for_the_model_names_place_and_preview() -> None:
    written = Persisted(pointer="p.txt", original_chars=9, preview="begins").text
    assert written == "<persisted-output>\nFull output: p.txt\nPreview:\nbegins\n</persisted-output>"
