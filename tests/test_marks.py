import ast
from pathlib import Path

TESTS = Path(__file__).parent
BROWSER, SLOW = "pytest.mark.browser", "pytest.mark.slow"


def marks(file):
    """The source of the marks of the file, and of each of its functions and classes."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield [ast.unparse(one) for one in node.decorator_list]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield ast.unparse(node.value).strip("[]").split(", ")


def test_make_test_finds_all_fast_browser_tests():
    files = [file for file in TESTS.rglob("test_*.py") if file.parent != TESTS / "browser"]
    candidates = [file for file in files if BROWSER in file.read_text(encoding="utf-8")]
    elsewhere = [one for file in candidates for one in marks(file) if BROWSER in one]
    assert elsewhere, "tests/test_limits.py has one"
    assert all(SLOW in one for one in elsewhere), "make test collects only tests/browser for them"
