"""No page runs outside of its frame."""

import ast
from pathlib import Path

import pytest

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
    assert ast.unparse(statements[0]) == f"ui.require_frame('pages/{path.name}')"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_page_is_thin(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 80
