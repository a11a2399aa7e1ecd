"""Pages run only inside the frame."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import APP, Services, page_text

PAGES = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_page_first_requires_the_frame(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    statements = [
        node
        for node in body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    assert ast.unparse(statements[0]) == f"frame.require_frame('pages/{path.name}')"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_page_script_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 80


def test_the_frame_uses_the_readers_language_and_sets_it_in_the_browser(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "ja")
    html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
    assert '<script data-language="ja">' in html
    assert "手元の文書から" in html
