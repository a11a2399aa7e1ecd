"""Attachments and comments are imported with their pages."""

import pytest

from domain import DocumentRef, Skipped
from domain.errors import SourceError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.loaders.confluence.reading import Library, id_of, pages_of, refs_of


def test_attachments_of_selected_pages_are_listed(docs):
    low, rules = id_of(docs, "Low"), id_of(docs, "Rules")
    text = docs.attach(low, "low.txt", b"what is low")
    docs.attach(rules, "rules.txt", b"not wanted")
    docs.attach(low, "film.mp4", b"..", "video/mp4")
    big = docs.attach(low, "big.txt", b"x" * 2000)
    selection = ConfluenceSelection(Scope.LABELS, page_labels=("guide",), attachments=True)
    pages = pages_of(docs, selection, max_bytes=1000)
    entries = [*pages.list()]
    assert {key for key in refs_of(entries) if key.startswith("att")} == {text}
    skipped = {entry.reason: entry.is_error for entry in entries if isinstance(entry, Skipped)}
    assert skipped == {
        "Footnote does not read .mp4 files yet": False,
        "0.0 MiB exceeds the limit of 0.0 MiB: split the file": True,
    }
    with pytest.raises(SourceError, match="exceeds the limit"):
        pages.read(DocumentRef(big, "", ""))
    document = pages.read(refs_of(entries)[text])
    assert document.page_content == "what is low"
    assert document.metadata["page_title"] == "Low"
    assert document.metadata["page_id"] == low


def test_attachments_are_updated_and_removed_with_their_pages(docs):
    selection, library, rules = (
        ConfluenceSelection(attachments=True),
        Library(),
        id_of(docs, "Rules"),
    )
    attachment = docs.attach(rules, "rules.txt", b"old")
    library.update(pages_of(docs, selection))
    docs.attach(rules, "rules.txt", b"new")
    library.update(pages_of(docs, selection))
    assert library.read == [attachment]
    assert library.documents[attachment].page_content == "new"
    docs.trash(rules)
    library.update(pages_of(docs, selection))
    assert set(library.removals) == {rules, attachment}
    docs.restore(rules)
    library.update(pages_of(docs, selection))
    library.update(pages_of(docs))
    assert library.removals == {attachment: "attachments are no longer imported"}


def test_new_comments_update_their_page_without_a_request_per_page(docs):
    selection, library, rules = ConfluenceSelection(comments=True), Library(), id_of(docs, "Rules")
    library.update(pages_of(docs, selection))
    first = docs.comment(rules, "<p>Is this right?</p>")
    docs.comment(rules, "<p>It is.</p>", reply_to=first, by="lee")
    library.update(pages_of(docs, selection))
    assert library.read == [rules]
    day = f"{docs.now():%Y-%m-%d}"
    assert library.documents[rules].page_content == (
        f"rules\n\n## Comments\n\nKim Minji, {day}:\n\nIs this right?\n\n"
        f"Lee Jun, {day}, in reply to Kim Minji:\n\nIt is."
    )
    docs.edit(first, "<p>Is this still right?</p>")
    library.update(pages_of(docs, selection))
    assert library.read == [rules]
    docs.requests.clear()
    library.update(pages_of(docs, selection))
    assert library.read == []
    assert len(docs.requests) == 3  # who is signed in, pages, comments


def test_all_comments_are_read_in_order_from_several_responses(docs):
    rules = id_of(docs, "Rules")
    first = docs.comment(rules, "<p>number 0</p>")
    for number in range(1, 130):
        docs.comment(rules, f"<p>number {number}</p>", reply_to=first if number % 2 else None)
    pages = pages_of(docs, ConfluenceSelection(comments=True))
    text = pages.read(refs_of(pages.list())[rules]).page_content
    lines = [line for line in text.splitlines() if line.startswith("number")]
    assert lines == [f"number {number}" for number in [0, *range(1, 130, 2), *range(2, 130, 2)]]
