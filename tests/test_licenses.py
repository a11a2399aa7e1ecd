"""The licenses of all packages that are installed with the product."""

import re
from importlib.metadata import PathDistribution, distribution

import pytest

from tests.licenses import (
    ALLOWED,
    FILE,
    STATED,
    UNCLEAR,
    document,
    license_of,
    parts_of,
    requirements,
    rows,
)

README = FILE.parents[1] / "README.md"
LISTED = re.compile(r"^\| ([\w.-]+) \| [\w.+-]+ \| .+ \|$", re.MULTILINE)


def test_the_list_in_the_docs_is_current():
    assert FILE.read_text(encoding="utf-8") == document(), "run: make licenses"


def test_every_package_of_the_requirements_is_listed():
    names = {one.name for one in requirements()}
    assert len(names) > 100
    assert names <= set(LISTED.findall(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row[0])
def test_every_license_is_allowed_or_stated_as_unclear(row):
    name, _version, license_ = row
    assert parts_of(license_) <= ALLOWED or (name, license_) == ("deeplake", UNCLEAR)


def test_the_unclear_license_is_stated_where_people_look():
    metadata = distribution("deeplake").metadata
    assert metadata["Version"] in FILE.read_text(encoding="utf-8")
    assert not metadata.get("License-Expression")
    assert "deeplake" in README.read_text(encoding="utf-8")


def test_no_statement_replaces_metadata_that_exist():
    for name in STATED:
        assert not distribution(name).metadata.get("License-Expression"), name


@pytest.mark.parametrize(
    "metadata", ["", "License: Proprietary\n", "License-Expression: AGPL-3.0\n"]
)
def test_a_license_that_is_not_on_the_list_is_noticed(metadata, tmp_path):
    folder = tmp_path / "new-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: new\nVersion: 1.0\n{metadata}")
    assert not parts_of(license_of(PathDistribution(folder))) <= ALLOWED
