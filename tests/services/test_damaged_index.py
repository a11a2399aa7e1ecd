"""Damage to an index is reported, the intact store is searched, and a reindex repairs it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from domain import LOCAL_USER, SearchMode
from domain.errors import DamagedIndexError, StorageError
from services.search.searchable_library import PARTLY_DAMAGED
from storage.index_files import CHECKSUMS
from tests.fakes.damage import (
    DELETED,
    KINDS,
    TEXTS,
    damage,
    files_of,
    make_library,
    open_search,
    search_keys,
)
from tests.fakes.library import DictLoader, Library

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DAMAGED_WHILE_OPEN = """
import sys
from pathlib import Path
from domain import SearchMode
from domain.errors import DamagedIndexError
from storage.keywords import keyword_index
from storage.vectors import passage_rows
from tests.fakes.damage import damage, files_of, search_keys, open_search
from tests.fakes.library import Library
passage_rows.REFRESH_S = keyword_index.REFRESH_S = 0
search = open_search(Library(Path(sys.argv[1])))
assert all(search_keys(search, mode=mode) for mode in SearchMode)
for file in files_of(Path(sys.argv[2])):
    if file.name != "checksums":
        damage(file, "emptied")
for mode in SearchMode:
    try:
        search_keys(search, mode=mode)
    except DamagedIndexError:
        print("refused")
"""


@pytest.fixture
def data_dir(tmp_path):
    folder = tmp_path / "data"
    make_library(folder)
    return folder


@pytest.fixture
def index(data_dir):
    [index] = (data_dir / "indexes").iterdir()
    return index


def damage_all(folder, kind=DELETED):
    """Damage all files except the checksums."""
    for file in files_of(folder):
        if file.stat().st_size and file.name != CHECKSUMS:
            damage(file, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, DELETED])
def test_every_kind_of_damage_to_any_file_is_reported_tolerated_and_repaired(tmp_path, kind):
    command = [sys.executable, "-m", "tests.fakes.damage", str(tmp_path), kind]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, f"after {process.stdout.splitlines()[-1:]}: {process.stderr}"
    assert len(process.stdout.splitlines()) > 25


class TestSearch:
    @pytest.mark.parametrize("kind", [DELETED, "zeroed"])
    def test_with_both_stores_damaged_the_error_names_the_folder_and_the_remedy(
        self, data_dir, index, kind
    ):
        damage_all(index / "passages", kind)
        damage_all(index / "keywords", kind)
        for mode in (None, *SearchMode):
            with pytest.raises(StorageError, match=rf"{index}.*python cli.py reindex"):
                search_keys(open_search(Library(data_dir)), mode=mode)

    @pytest.mark.parametrize("store", ["passages", "keywords"])
    def test_a_deleted_store_is_reported_and_not_treated_as_empty(self, data_dir, index, store):
        shutil.rmtree(index / store)
        search = open_search(Library(data_dir))
        assert search_keys(search)
        assert f"{index / store} can't be used" in search.library.damage()[0]
        assert search.library.damage()[1] == PARTLY_DAMAGED
        with pytest.raises(DamagedIndexError):
            Library(data_dir).load(DictLoader(TEXTS | {"new.txt": "a new one"}))

    @pytest.mark.parametrize(
        ("store", "mode"),
        [("passages", SearchMode.SIMILARITY), ("passages", SearchMode.MMR), ("keywords", "bm25")],
    )
    def test_a_mode_that_needs_the_damaged_store_uses_the_intact_one(
        self, data_dir, index, store, mode
    ):
        damage_all(index / store, "cut")
        search = open_search(Library(data_dir), mode=SearchMode(mode))
        assert search_keys(search)
        assert search_keys(search, mode=SearchMode(mode)), "the same mode, requested explicitly"

    def test_all_words_have_the_same_idf_while_the_keyword_index_is_damaged(self, data_dir, index):
        opened_index = open_search(Library(data_dir)).library.open_index()
        assert opened_index.idf(["number", "changed"]) == opened_index.words.idf(
            ["number", "changed"]
        )
        damage_all(index / "keywords", "cut")
        idf = open_search(Library(data_dir)).library.open_index().idf(["number", "changed"])
        assert idf["number"] == idf["changed"] > 0

    def test_spelling_is_not_corrected_while_the_keyword_index_is_damaged(self, data_dir, index):
        damage_all(index / "keywords", "cut")
        search = open_search(Library(data_dir))
        assert search.respell(LOCAL_USER, "the numbre") == "the numbre"
        assert "keywords" in search.library.damage()[0]

    def test_damage_while_the_index_is_open_does_not_crash_the_process(self, data_dir, index):
        command = [sys.executable, "-c", DAMAGED_WHILE_OPEN, str(data_dir), str(index)]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert process.returncode == 0, process.stderr
        assert process.stdout.split() == ["refused"] * len(SearchMode)

    @pytest.mark.parametrize("store", ["passages", "keywords"])
    def test_a_store_restored_from_a_backup_is_no_longer_reported(
        self, data_dir, index, store, tmp_path
    ):
        shutil.copytree(index / store, tmp_path / "backup")
        damage_all(index / store, "flipped")
        search = open_search(Library(data_dir))
        search_keys(search, condition={"key": "03.txt"})
        assert str(index / store) in search.library.damage()[0]

        shutil.copytree(tmp_path / "backup", index / store, dirs_exist_ok=True)
        assert search_keys(search)
        assert search.library.damage() == ()

    def test_a_sound_library_has_no_notices(self, data_dir):
        search = open_search(Library(data_dir))
        assert search_keys(search)
        assert search.library.damage() == ()
        assert search.library.status(LOCAL_USER).notices == ()


class TestImport:
    @pytest.mark.parametrize("store", ["passages", "keywords"])
    @pytest.mark.parametrize("kind", ["cut", "zeroed"])
    def test_an_import_into_a_damaged_index_is_rejected_and_nothing_is_lost(
        self, data_dir, index, store, kind
    ):
        damage_all(index / store, kind)
        before = {file: file.read_bytes() for file in files_of(index)}
        library = Library(data_dir)
        with pytest.raises(DamagedIndexError, match=r"python cli.py reindex"):
            library.load(DictLoader(TEXTS | {"new.txt": "a new one"}))
        assert {file: file.read_bytes() for file in files_of(index)} == before

        library.reindex()
        library.load(DictLoader(TEXTS | {"new.txt": "a new one"}))
        assert library.texts() == TEXTS | {"new.txt": "a new one"}
        assert library.check().agrees


class TestStart:
    def test_a_wrong_file_size_is_reported_at_startup_and_in_the_status(self, data_dir, index):
        damage_all(index / "passages", "cut")
        library = Library(data_dir)
        library.maintenance.recover()
        assert "bytes" in library.maintenance.status(LOCAL_USER).problem
        status = open_search(library).library.status(LOCAL_USER)
        assert f"{index / 'passages'} can't be used" in status.notices[0]
        assert status.notices[1:] == (PARTLY_DAMAGED,)

    def test_checksums_are_added_to_an_index_of_an_older_version(self, data_dir, index):
        for store in ("passages", "keywords"):
            (index / store / CHECKSUMS).unlink()
        library = Library(data_dir)
        assert library.check().agrees
        assert search_keys(open_search(library))
        library.maintenance.recover()
        assert (index / "passages" / CHECKSUMS).exists()

        damage_all(index / "keywords", "flipped")
        assert not Library(data_dir).check().agrees
        Library(data_dir).reindex()
        assert Library(data_dir).check().agrees
