from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InputError
from loaders.directory_loader import Globs


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/*", "a.md", True),
        ("**/*", "a/b/c.md", True),
        ("*.md", "a/b/c.md", True),
        ("*.md", "a/b/c.mdx", False),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/x/a.md", False),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/x/y/a.md", True),
        ("docs/**", "docs/x/y", True),
        ("docs/**", "docs", False),
        ("**/drafts/**", "a/drafts/b.md", True),
        ("a?.txt", "ab.txt", True),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("a+(b).txt", "a+(b).txt", True),
        ("휴가*", "사내/휴가 규정.md", True),
    ],
)
def test_patterns_match_what_people_expect(pattern, path, matches):
    assert Globs([pattern]).match(path) is matches


def test_a_decomposed_pattern_matches_a_composed_path():
    assert Globs(["\u1112\u1172\u1100\u1161*"]).match("휴가.md")


@settings(deadline=None)
@given(
    st.text("ab.*?[]", min_size=1, max_size=6),
    st.text("ab.", min_size=1, max_size=6).filter(lambda name: name not in (".", "..")),
)
def test_a_pattern_without_slash_agrees_with_pathlib(pattern, name):
    if "**" in pattern or pattern in (".", "..") or pattern.startswith("..") or "[]" in pattern:
        return
    assert Globs([pattern]).match(name) == PurePosixPath(name).match(pattern)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("pattern", ["*a*a*a*a*b", "**/a*/**/a*/**/a*/**/b"])
def test_patterns_with_many_wildcards_match_in_linear_time(pattern):
    globs = Globs([pattern])
    assert not globs.match("a" * 100_000)
    assert not globs.match("/".join(["a"] * 50_000))


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=4), st.text(max_size=12)
)
def test_any_pattern_matches_or_is_rejected_with_the_reason(patterns, path):
    try:
        globs = Globs(patterns)
    except InputError as error:
        reason = str(error)
    else:
        reason = "is not a valid pattern"
        assert globs.match(path) in (True, False)
    assert "is not a valid pattern" in reason
