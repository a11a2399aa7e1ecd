"""`cli.py migrate`, as an operator uses it."""

import json

import pytest

QUESTION = "How many days of annual leave do new employees get?"


def ask(line, **environment):
    answer = json.loads(line.run("ask", QUESTION, "--json", **environment).stdout)
    evidence = [(one["quote"], one["state"], one["location"]) for one in answer["citations"]]
    return answer["answer"], evidence


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'elsewhere.db'}"


@pytest.fixture
def library(imported):
    return imported()


def test_the_ledger_moves_away_and_back(line, library, url):
    before, new = ask(line), url.removeprefix("sqlite:///")
    output = line.run("migrate", "--to-database", url).stdout
    assert f"tables are now in {new}, and equal the original." in output
    assert "to the URL that you passed with --to-database, and restart all processes" in output
    assert f"Keep the data folder {line.data_dir}" in output
    assert f"ask: {line.data_dir}/footnote.db refuses changes." in output

    error = line.run("ask", QUESTION, code=1).stderr
    assert f"The library was moved from {line.data_dir}/footnote.db to {url}" in error
    assert ask(line, FOOTNOTE_DATABASE_URL=url) == before
    assert "all agree" in line.run("check", FOOTNOTE_DATABASE_URL=url).stdout
    output = line.run("migrate", "--to-database", url).stdout
    assert f"The ledger was moved to {new}." in output

    output = line.run("migrate", "--to-database", "sqlite", FOOTNOTE_DATABASE_URL=url).stdout
    assert f"tables are now in {line.data_dir}/footnote.db" in output
    assert "Now remove FOOTNOTE_DATABASE_URL, and restart" in output
    assert ask(line) == before
    error = line.run("search", "leave", code=1, FOOTNOTE_DATABASE_URL=url).stderr
    assert "to the data folder: remove FOOTNOTE_DATABASE_URL" in error


def test_wrong_calls_are_explained(line, library, url):
    assert "--to-database or --to-index" in line.run("migrate", code=2).stderr
    error = line.run("migrate", "--to-index", "opensearch", code=1).stderr
    assert "set FOOTNOTE_SEARCH_URL" in error
    error = line.run("migrate", "--to-database", "mysql://db/footnote", code=1).stderr
    assert "--to-database must be a URL of PostgreSQL" in error
    assert "FOOTNOTE_DATABASE_URL" not in error
    error = line.run("migrate", "--to-database", url, FOOTNOTE_DATABASE_URL="x", code=1).stderr
    assert "FOOTNOTE_DATABASE_URL must be a URL of PostgreSQL" in error
    assert "--to-database" not in error
    result = line.run("migrate", "--to-database", "postgresql://u:se@c:ret@h/db", code=1)
    assert "must be a URL of PostgreSQL" in result.stderr
    assert "ret" not in result.stdout + result.stderr
    error = line.run("migrate", "--to-database", "sqlite", code=1).stderr
    assert "The ledger is already in the data folder" in error
    output = line.run("migrate", "--to-index", "embedded").stdout
    assert "it is already in this place (embedded)" in output


def test_a_missing_data_folder_is_not_created(line, url, tmp_path):
    missing = tmp_path / "missing"
    error = line.run("migrate", "--to-database", url, "--data-dir", missing, code=1).stderr
    assert f"There is no data folder {missing}" in error
    assert not missing.exists()
