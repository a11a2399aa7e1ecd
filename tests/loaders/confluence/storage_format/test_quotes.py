"""Readers' quotes are found although the Markdown adds link addresses and panel types."""

from chains.citations.quotes import find_quote
from loaders.confluence.storage_format import to_markdown
from tests.loaders.confluence.storage_format.site import Site, macro

PAGE = (
    "<p>신청은 <ac:link><ri:page ri:content-title='[양식] 휴가 (2026)'/></ac:link> 페이지"
    "에서 합니다. Ask <ac:link><ri:user ri:account-id='u-2'/></ac:link> or use "
    "<a href='https://f.example/a_(b)?x=1|2'>the form</a> within "
    f"{macro('status', title='15')} days.</p>"
    + macro("warning", rich="<p>승인 없이 쉬면 결근입니다.</p>")
)


def find(quote):
    text = to_markdown(PAGE, Site())
    span = find_quote(text, quote)
    return text[slice(*span)] if span else None


def test_quotes_may_span_links():
    assert find("신청은 [양식] 휴가 (2026) 페이지에서 합니다.")
    assert find("Ask 田中 花子 or use the form within 15 days.")


def test_panel_text_is_quoted_without_its_type():
    assert find("승인 없이 쉬면 결근입니다.") == "승인 없이 쉬면 결근입니다."


def test_link_addresses_cannot_be_quoted():
    assert find("https://w/OWN") is None
