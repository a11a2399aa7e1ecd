"""`cli.py search --explain`, as a person and as a program read it."""

import json

import pytest
from typer.testing import CliRunner

from cli import app
from domain import LOCAL_USER


@pytest.fixture
def run(build_services, handbook):
    services = build_services()
    services.directories.import_directory(LOCAL_USER, handbook)
    folder = str(services.imports.data_dir)

    def search(*arguments):
        done = CliRunner().invoke(app, ["search", *arguments, "--data-dir", folder])
        assert done.exit_code == 0, done.output
        return done.stdout

    return search


def test_an_explanation_tells_the_lists_and_the_words(run):
    told = run("annual leave of new employees", "--explain", "-k", "1")
    assert "dense: rank " in told
    assert "bm25: rank 1, score " in told
    assert "matched words: " in told


def test_without_being_asked_nothing_is_explained(run):
    assert "rank" not in run("annual leave of new employees")


def test_for_programs_the_shares_add_up_to_the_score(run):
    hits = json.loads(run("annual leave", "--explain", "--json"))
    assert "leave" in hits[0]["explanation"]["matched_words"]
    for hit in hits:
        parts = hit["explanation"]["parts"]
        assert sum(part["share"] for part in parts) == pytest.approx(hit["score"])
