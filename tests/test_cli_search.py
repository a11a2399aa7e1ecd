"""`cli.py search --explain`, as text and as JSON."""

import json

import pytest
from typer.testing import CliRunner

from cli import app


@pytest.fixture
def run(imported):
    services = imported()
    folder = str(services.parts.settings.data_dir)

    def search(*arguments):
        result = CliRunner().invoke(app, ["search", *arguments, "--data-dir", folder])
        assert result.exit_code == 0, result.output
        return result.stdout

    return search


def test_an_explanation_shows_the_lists_and_the_words(run):
    output = run("annual leave of new employees", "--explain", "-k", "1")
    assert "dense: rank " in output
    assert "bm25: rank 1, score " in output
    assert "matched words: " in output


def test_nothing_is_explained_without_the_option(run):
    assert "rank" not in run("annual leave of new employees")


def test_json_scores_add_up(run):
    hits = json.loads(run("annual leave", "--explain", "--json"))
    assert "leave" in hits[0]["explanation"]["matched_words"]
    for hit in hits:
        parts = hit["explanation"]["parts"]
        assert sum(part["share"] for part in parts) == pytest.approx(hit["score"])
