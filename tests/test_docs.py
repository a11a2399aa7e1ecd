import re
from pathlib import Path

import pytest
from dotenv import dotenv_values

from loaders.formats import SUFFIXES
from settings import Settings

ROOT = Path(__file__).parents[1]


def variables():
    for name, field in Settings.model_fields.items():
        yield field.validation_alias or f"FOOTNOTE_{name.upper()}", field


def test_env_example_lists_exactly_the_settings_with_their_defaults():
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^# ([A-Z0-9_]+)=(.*)$", text, flags=re.MULTILINE))
    expected = {
        variable: "" if field.default is None else str(field.default)
        for variable, field in variables()
    }
    assert documented == expected


def test_an_unchanged_copy_of_env_example_sets_nothing():
    assert not dotenv_values(ROOT / ".env.example")


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "CONTRIBUTING.md",
        "deploy/README.md",
        *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")),
    ],
)
def test_links_to_files_are_valid(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    missing = [target for target in targets if not ((ROOT / path).parent / target).exists()]
    assert not missing


def test_the_readme_starts_with_the_two_commands():
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:12]
    assert any("make run" in line for line in head)
    assert any("make test" in line for line in head)


def test_the_table_of_formats_matches_the_readers():
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| [A-Z][^|]* \| ([a-z, ]+) \|", text, flags=re.MULTILINE)
    assert sorted(".".join(["", name]) for cell in cells for name in cell.split(", ")) == sorted(
        SUFFIXES
    )
