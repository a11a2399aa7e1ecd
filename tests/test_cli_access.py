"""`cli.py access` in a subprocess."""

import json

import pytest

from domain import LOCAL_USER, DocumentFilter


@pytest.fixture
def leave(imported):
    """The id of the document about leave in the source `handbook`."""
    services = imported()
    page = services.documents.page(LOCAL_USER, DocumentFilter("휴가"))
    return page.documents[0].id


def readers(line, *arguments):
    return json.loads(line.run("access", "readers", *arguments, "--json").stdout)["readers"]


def test_a_source_is_restricted_to_readers_and_opened_again(line, leave):
    assert line.run("access", "readers", "handbook").stdout == "everyone\n"
    allowed = line.run("access", "allow", "handbook", "group:hr", "user:anna")
    assert allowed.stdout == "handbook is now readable by: group:hr, user:anna\n"
    assert line.run("access", "readers", "handbook").stdout == "group:hr\nuser:anna\n"
    assert readers(line, "handbook") == ["group:hr", "user:anna"]
    assert "everyone" in line.run("access", "open", "handbook").stdout
    assert readers(line, "handbook") is None


def test_a_collection_is_restricted_to_readers(line, leave):
    line.run("access", "allow", "handbook", "group:hr", "--collection")
    assert readers(line, "handbook", "--collection") == ["group:hr"]
    assert readers(line, "handbook") is None
    line.run("access", "open", "handbook", "--collection")
    assert readers(line, "handbook", "--collection") is None


def test_why_a_document_is_readable_is_explained(line, leave):
    explanation = line.run("access", "why", leave, "--user", "anna").stdout
    assert explanation.startswith("Readable by everyone")
    line.run("access", "allow", "handbook", "group:hr")
    explanation = line.run("access", "why", leave, "--user", "anna", "--group", "staff").stdout
    assert explanation == "Hidden: only group:hr may read the source handbook.\n"
    line.run("access", "allow", "handbook", "group:hr", "email:anna@example.com")
    explanation = line.run("access", "why", leave, "--email", "anna@example.com").stdout
    assert explanation == "Readable by email:anna@example.com.\n"
    data = line.run("access", "why", leave, "--group", "staff", "--group", "hr", "--json").stdout
    assert json.loads(data) == {
        "is_readable": True,
        "rule": "reader",
        "message": "Readable by group:hr.",
        "readers": ["group:hr"],
    }


def test_unusable_arguments_are_explained(line, leave):
    wrong = line.run("access", "allow", "handbook", "hr", code=1).stderr
    assert "'hr' is not a reader: use user:ID, group:NAME" in wrong
    assert "Sources: handbook" in line.run("access", "readers", "none", code=1).stderr
    assert (
        "no collection 'none'" in line.run("access", "open", "none", "--collection", code=1).stderr
    )
    assert "no document none" in line.run("access", "why", "none", code=1).stderr
    line.run("access", "allow", "handbook", code=2)
    assert readers(line, "handbook") is None
