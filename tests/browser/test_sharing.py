"""Sharing a conversation as a file that opens in any browser."""

from pathlib import Path

import pytest

from tests.browser.actions import DESKTOP, PHONE, ask, scrolls_sideways, share

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year"


def test_a_shared_file_shows_the_evidence_without_any_request(
    page: "sync_api.Page", address: str, tmp_path: Path
) -> None:
    page.goto(address)
    ask(page, QUESTION)
    file = share(page, tmp_path)
    assert file.suffix == ".html"
    with page.context.new_page() as reader:
        requested: list[str] = []
        reader.on("request", lambda request: requested.append(request.url))
        reader.goto(file.as_uri())
        sync_api.expect(reader).to_have_title(QUESTION)
        sync_api.expect(reader.locator("section q").first).to_contain_text(QUOTE)
        sync_api.expect(reader.locator("section").first).to_contain_text("found in the document")
        assert requested == [file.as_uri()]
        for size in (DESKTOP, PHONE):
            reader.set_viewport_size(size)
            assert not scrolls_sideways(reader)
        reader.emulate_media(media="print", color_scheme="dark")
        background = reader.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"
