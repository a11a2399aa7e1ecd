"""The glossary of CONTRIBUTING.md applies to identifiers, docstrings, comments, texts, and docs."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    *("api", "app.py", "bootstrap", "chains", "cli.py", "commands", "domain"),
    *("footnote.py", "loaders", "models", "pages", "retrievers", "services", "settings.py"),
    *("storage", "ui"),
)
CHECKED = (*FOLDERS, "benchmarks")

REPLACED = {
    r"passing ?error": "TransientError",
    r"patien(ce|tly)": "RetryPolicy, with_retries",
    r"refil(e|ing)": "metadata update",
    r"wish(es)? (to|of) (stop|pause|cancel)": "cancellation request",
    r"\bbrake\b": "removal guard",
    r"\bkeeper\b": "supervisor",
    r"(values|weights)_said": "filters, weights",
}
"""Terms that were replaced, as regular expressions for lower-case text, and what to write."""

PHRASES = {
    r"go(es|ne|ing)? on with": "resume",
    r"wish(es)? to (stop|cancel|pause)": "cancellation request",
    r"\btry(ing)? out\b|\btried out\b": "dry run",
    r"\blabelled\b": "labeled",
    r"\bcancelled by\b": "canceled by",
    r"\bneighbour": "neighbor",
    r"\bbehaviour": "behavior",
}
"""The same for prose alone, where the words of a phrase stand apart."""

PARTICIPLE = re.compile(r"(?:^|_)(asked|given|gone|kept|said|told|wanted)(?:_|$)")
EXEMPT = {"migrations", "sample_catalogs"}
"""Folders with the names of stored data: released columns, and the British word of a sample."""
RELEASED = {"GONE", "said", "standalone_given"}
"""Names that are stored, fields of the API, or an HTTP status."""


def product_files():
    return [path for folder in FOLDERS for path in files_of(folder)]


def files_of(folder):
    """The files of a folder, or a file at the top level."""
    path = ROOT / folder
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [file for file in files if EXEMPT.isdisjoint(file.relative_to(ROOT).parts)]


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def names_bound(tree):
    """Identifiers defined in a file: classes, functions, parameters, variables, and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def prose(source):
    """Docstrings, comments, and string literals of a file."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.string


def replaced_terms(text, terms=REPLACED):
    matches = [(re.search(term, text.lower()), new) for term, new in terms.items()]
    return {f"{match[0]!r}: write {new}" for match, new in matches if match}


def participles(names):
    """Names that are participles instead of nouns or verbs."""
    words = {name: re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names}
    return {name for name, word in words.items() if PARTICIPLE.search(word)} - RELEASED


def violations(folder, terms_of):
    """Violations in each file of a folder, by path."""
    paths = files_of(folder)
    assert paths
    terms = {str(path.relative_to(ROOT)): terms_of(path.read_text("utf-8")) for path in paths}
    return {path: terms_found for path, terms_found in terms.items() if terms_found}


def bad_names(source):
    names = set(names_bound(ast.parse(source)))
    return {term for name in names for term in replaced_terms(name)} | participles(names)


def bad_prose(source):
    return {term for text in prose(source) for term in replaced_terms(text, REPLACED | PHRASES)}


@pytest.mark.parametrize("folder", CHECKED)
def test_names_follow_the_glossary(folder):
    assert violations(folder, bad_names) == {}


@pytest.mark.parametrize("folder", CHECKED)
def test_docstrings_comments_and_messages_follow_the_glossary(folder):
    assert violations(folder, bad_prose) == {}


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_documentation_follows_the_glossary(path):
    assert replaced_terms(path.read_text(encoding="utf-8"), REPLACED | PHRASES) == set()


def test_the_check_detects_a_replaced_term():
    assert replaced_terms("An import waits behind the brake.")
    assert replaced_terms("keeper") == {"'keeper': write supervisor"}
    assert replaced_terms("The supervisor restarts the worker.") == set()


def test_the_check_detects_a_participle():
    assert participles({"told", "_kept_turns", "PlacesAsked", "WANTED_FROM"}) == {
        "told",
        "_kept_turns",
        "PlacesAsked",
        "WANTED_FROM",
    }
    assert participles({"question", "standalone_given", "forgiven"}) == set()
