import json

from hypothesis import given
from hypothesis import strategies as st

from loaders.google_drive.drive_walk import Shortcut, Tree, version_of

NO_ONE = frozenset()


def tree_of(*folders, **more):
    tree = Tree(**more)
    for key, name, parent in folders:
        tree.add(key, name, parent, [parent] if parent else [])
    return tree


def test_the_path_of_a_file_consists_of_its_folders():
    tree = tree_of(("a", "Team", None), ("b", "Sub", "a"))
    assert tree.path(tree.above({"id": "f", "parents": ["b"]})) == ("Team", "Sub")


def test_a_file_in_two_folders_belongs_to_the_one_nearest_the_root():
    tree = tree_of(("a", "Team", None), ("b", "Sub", "a"))
    assert tree.above({"id": "f", "parents": ["b", "a"]}) == "a"
    assert tree.above({"id": "f", "parents": ["a", "b"]}) == "a"


def test_files_outside_the_selection_have_no_folder():
    tree = tree_of(("a", "Team", None), singles=frozenset(["s"]), drives=frozenset(["d"]))
    assert tree.above({"id": "f", "parents": ["x"]}) is None
    assert tree.above({"id": "f"}) is None
    assert tree.above({"id": "s", "parents": ["x"]}) == ""
    assert tree.above({"id": "s", "parents": ["a"]}) == "", "it was selected itself"
    assert tree.above({"id": "f", "parents": ["x"], "driveId": "d"}) == "d"


def test_the_target_of_a_shortcut_is_in_its_folder_unless_it_is_listed_itself():
    tree = tree_of(("a", "Team", None), ("b", "Sub", "a"))
    tree.add_shortcut("s", Shortcut("f", "b"))
    assert tree.above({"id": "f", "parents": ["x"]}) == "b"
    assert tree.above({"id": "f", "parents": ["a"]}) == "a"


def test_folders_are_added_once_so_that_cycles_end():
    tree = tree_of(("a", "Team", None))
    assert not tree.add("a", "Again", "a", ["a"])
    assert tree.path("a") == ("Team",)


KEYS = st.sampled_from("abcdefgh")
FOLDERS = st.lists(st.tuples(KEYS, st.text(max_size=5), KEYS), max_size=12)


SHORTCUTS = st.lists(
    st.tuples(KEYS, KEYS, st.none() | KEYS), max_size=6, unique_by=lambda one: one[0]
)


@given(FOLDERS, SHORTCUTS, KEYS)
def test_trees_survive_a_json_round_trip(folders, shortcuts, file_id):
    tree = tree_of(*folders, singles=frozenset("x"))
    for key, target, folder in shortcuts:
        tree.add_shortcut(key, Shortcut(target, folder))
    text = json.dumps(tree.as_json())
    copy = Tree.of_json(json.loads(text), NO_ONE, frozenset("x"))
    assert json.dumps(copy.as_json()) == text
    for file in ({"id": file_id}, {"id": "f", "parents": [file_id]}):
        assert copy.path(copy.above(file)) == tree.path(tree.above(file))


FILE = {"name": "Plan", "mimeType": "text/plain", "modifiedTime": "2026-01-01T00:00:00.000Z"}


def test_a_version_depends_only_on_content_name_and_folders():
    versions = [
        version_of(FILE, ("A",)),
        version_of(FILE | {"name": "Plans"}, ("A",)),
        version_of(FILE, ("A", "B")),
        version_of(FILE | {"modifiedTime": "2026-01-02T00:00:00.000Z"}, ("A",)),
        version_of(FILE | {"md5Checksum": "0" * 32}, ("A",)),
        version_of(FILE | {"mimeType": "text/html"}, ("A",)),
    ]
    assert len(set(versions)) == len(versions)
    assert versions[0] == version_of(FILE | {"webViewLink": "https://a", "shared": True}, ("A",))


def test_a_checksum_takes_precedence_over_the_upload_time():
    file = FILE | {"md5Checksum": "0" * 32}
    assert version_of(file, ()) == version_of(file | {"modifiedTime": "2027"}, ())


@given(st.lists(st.text(), max_size=4))
def test_every_name_gives_a_version(names):
    assert version_of(FILE | {"name": "".join(names)}, tuple(names))
