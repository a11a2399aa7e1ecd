"""Messages name commands of `cli.py` as a person has to type them."""

import ast
import re

import pytest
import typer
from typer.exceptions import TyperException

from cli import app
from tests.test_glossary import product_files

HINT = re.compile(r"(?:\w+ )?cli\.py [^`”\n]+")


def string_literals(source):
    """String literals other than docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = [node.value for node in nodes if isinstance(node, ast.Expr)]
    literals = [node for node in nodes if isinstance(node, ast.Constant)]
    return [
        node.value for node in literals if isinstance(node.value, str) and node not in docstrings
    ]


def hints():
    """Each command that a message names, such as `python cli.py reindex`."""
    sources = (path.read_text("utf-8") for path in product_files())
    with_hints = (source for source in sources if "cli.py" in source)
    texts = (text for source in with_hints for text in string_literals(source))
    return sorted({hint[0] for text in texts for hint in HINT.finditer(text)})


def problem(hint):
    """Why a person can't type the command; "" if it is complete."""
    python, _, *words = hint.split()
    command = typer.main.get_command(app)
    if python != "python":
        return "it does not start with `python cli.py`"
    while words and hasattr(command, "commands"):
        name, *words = words
        if name not in command.commands:
            return f"there is no command {name}"
        command = command.commands[name]
    try:
        command.make_context("cli.py", words)
    except TyperException as error:
        return str(error)
    return ""


@pytest.mark.parametrize("hint", hints())
def test_a_hint_names_a_complete_command(hint):
    assert problem(hint) == ""


@pytest.mark.parametrize(
    "hint",
    [
        "run cli.py reindex",
        "python cli.py rebuild",
        "python cli.py import",
        "python cli.py ask QUESTION --resume",
        "python cli.py google-login CLIENT_JSON",
    ],
)
def test_the_check_detects_an_incomplete_command(hint):
    assert problem(hint)
