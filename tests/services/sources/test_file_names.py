import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.sources.file_names import MAX_BYTES, safe_name, safe_path


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\Users\\kim\\notes.md", "notes.md"),
        (unicodedata.normalize("NFD", "휴가.md"), "휴가.md"),
        ("a\x00b\nc\u202efdp.md", "abcfdp.md"),
        ('what? "this": <a|b>*.md', "what_ _this__ _a_b__.md"),
        ("con.md", "_con.md"),
        ("LPT1 .tar.md", "_LPT1 .tar.md"),
        ("console.md", "console.md"),
        (" .hidden.md ", "hidden.md"),
        ("~$open.docx", "open.docx"),
        ("trailing.md. ", "trailing.md"),
        ("..", ""),
        ("", ""),
    ],
)
def test_a_name_is_made_safe_for_every_file_system(name, safe):
    assert safe_name(name) == safe


def test_a_long_name_keeps_its_suffix():
    name = safe_name("휴" * 300 + ".pdf")
    assert len(name.encode()) <= MAX_BYTES
    assert name.startswith("휴휴")
    assert name.endswith("휴.pdf")


@given(st.text(max_size=300))
@example("a" * 300 + ". .")
@example("~$~$.con.md")
@example("con" + " " * 250 + "x")
@example("con" + " " * 250 + "x.md")
def test_a_safe_name_stays_within_its_folder_and_is_safe(name):
    safe = safe_name(name)
    assert safe_name(safe) == safe
    assert not set(safe) & set('/\\<>:"|?*\0\n')
    assert not safe.startswith((".", "~$"))
    assert len(safe.encode()) <= MAX_BYTES
    assert unicodedata.is_normalized("NFC", safe)


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("handbook/leave.md", "handbook/leave.md"),
        ("../../etc/passwd.md", "etc/passwd.md"),
        ("/etc/passwd.md", "etc/passwd.md"),
        ("C:\\Users\\kim\\notes.md", "C_/Users/kim/notes.md"),
        ("a/./.git//b.md", "a/git/b.md"),
        ("NUL/con.md", "_NUL/_con.md"),
        ("handbook/", ""),
        ("handbook/..", ""),
        ("/".join(map(str, range(20))) + "/a.md", "/".join(map(str, range(8, 20))) + "/a.md"),
    ],
)
def test_a_path_keeps_its_folders_without_leading_out_of_the_box(path, safe):
    assert safe_path(path) == safe
    assert safe_path(safe) == safe
