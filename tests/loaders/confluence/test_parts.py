"""Attachments and comments, kept in step with their pages."""

import pytest

from domain import DocumentRef, Skipped
from errors import SourceError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.loaders.confluence.reading import Library, id_of, pages_of, refs_of


def test_attachments_come_with_the_pages_that_are_wanted(docs):
    low, rules = id_of(docs, "Low"), id_of(docs, "Rules")
    text = docs.attach(low, "low.txt", b"what is low")
    docs.attach(rules, "rules.txt", b"not wanted")
    docs.attach(low, "film.mp4", b"..", "video/mp4")
    big = docs.attach(low, "big.txt", b"x" * 2000)
    wanted = ConfluenceSelection(Scope.LABELS, page_labels=("guide",), attachments=True)
    pages = pages_of(docs, wanted, max_bytes=1000)
    found = [*pages.list()]
    assert {key for key in refs_of(found) if key.startswith("att")} == {text}
    skipped = {entry.reason: entry.is_error for entry in found if isinstance(entry, Skipped)}
    assert skipped == {
        "Footnote does not read .mp4 files yet": False,
        "0.0 MiB is more than the limit of 0.0 MiB: split it": True,
    }
    with pytest.raises(SourceError, match="more than the limit"):
        pages.read(DocumentRef(big, "", ""))
    document = pages.read(refs_of(found)[text])
    assert document.page_content == "what is low"
    assert document.metadata["page_title"] == "Low"
    assert document.metadata["page_id"] == low


def test_attachments_are_kept_in_step(docs):
    wanted, library, rules = ConfluenceSelection(attachments=True), Library(), id_of(docs, "Rules")
    held = docs.attach(rules, "rules.txt", b"old")
    library.update(pages_of(docs, wanted))
    docs.attach(rules, "rules.txt", b"new")
    library.update(pages_of(docs, wanted))
    assert library.read == [held]
    assert library.documents[held].page_content == "new"
    docs.trash(rules)
    library.update(pages_of(docs, wanted))
    assert set(library.gone) == {rules, held}
    docs.restore(rules)
    library.update(pages_of(docs, wanted))
    library.update(pages_of(docs))
    assert library.gone == {held: "attachments are no longer imported"}


def test_comments_are_part_of_their_page_and_seen_without_a_request_a_page(docs):
    wanted, library, rules = ConfluenceSelection(comments=True), Library(), id_of(docs, "Rules")
    library.update(pages_of(docs, wanted))
    first = docs.comment(rules, "<p>Is this right?</p>")
    docs.comment(rules, "<p>It is.</p>", reply_to=first, by="lee")
    library.update(pages_of(docs, wanted))
    assert library.read == [rules]
    day = f"{docs.now():%Y-%m-%d}"
    assert library.documents[rules].page_content == (
        f"rules\n\n## Comments\n\nKim Minji, {day}:\n\nIs this right?\n\n"
        f"Lee Jun, {day}, in reply to Kim Minji:\n\nIt is."
    )
    docs.edit(first, "<p>Is this still right?</p>")
    library.update(pages_of(docs, wanted))
    assert library.read == [rules]
    docs.requests.clear()
    library.update(pages_of(docs, wanted))
    assert library.read == []
    assert len(docs.requests) == 3  # who is signed in, pages, comments


def test_more_comments_than_one_answer_holds_are_all_there_in_order(docs):
    rules = id_of(docs, "Rules")
    first = docs.comment(rules, "<p>number 0</p>")
    for number in range(1, 130):
        docs.comment(rules, f"<p>number {number}</p>", reply_to=first if number % 2 else None)
    pages = pages_of(docs, ConfluenceSelection(comments=True))
    text = pages.read(refs_of(pages.list())[rules]).page_content
    told = [line for line in text.splitlines() if line.startswith("number")]
    assert told == [f"number {number}" for number in [0, *range(1, 130, 2), *range(2, 130, 2)]]
