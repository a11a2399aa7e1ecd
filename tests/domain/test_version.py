import tomllib
from pathlib import Path

from domain.version import VERSION


def test_the_version_is_that_of_the_package():
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == VERSION
