import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.confluence.storage_format import to_markdown
from loaders.confluence.storage_format.elements import plain_text
from tests.linear_time import require_linear_time
from tests.loaders.confluence.storage_format.site import Nowhere, cdata, macro
from tests.quick import examples

SITE = Nowhere()


@pytest.mark.parametrize("storage", ["", "  \n ", "<p/>", "<p>&nbsp;</p>"])
def test_pages_without_text_are_empty(storage):
    assert to_markdown(storage, SITE).strip() == ""


def test_html_entities_are_decoded():
    storage = "<p>caf&eacute;&nbsp;&ndash; 5&nbsp;&euro; &lt;b&gt; &amp;amp; &check; &#8364;</p>"
    assert to_markdown(storage, SITE) == "café – 5 € <b> &amp; ✓ €"


def test_unknown_entities_stay_unchanged():
    assert to_markdown("<p>a &foo; b</p>", SITE) == "a &foo; b"


def test_entities_and_tags_in_code_stay_unchanged():
    code = "&nbsp; &foo; <p>x</p> <!-- y --> & < ]]>"
    assert to_markdown(macro("code", plain=code), SITE) == f"```\n{code}\n```"


@pytest.mark.parametrize(
    ("storage", "markdown"),
    [
        ("<p>AT&T, 5 < 6 & 7 <3</p>", "AT&T, 5 < 6 & 7 <3"),
        ("<p>열림 <strong>b</p><p>c", "열림 b\n\nc"),
        ("<p>a</b></div></p><p>c</p>", "a\n\nc"),
        ("<p>a &#0; b</p>", "a b"),
        ("<p>a\x00\x0b\ufffe b</p>", "a b"),
        ("<?xml version='1.0'?><p>a</p>", "a"),
        ("<!-- 숨은 --><p>a<!-- & --></p><?php x ?>", "a"),
        ("<ac:macro ac:name='code'><ac:plain-text-body><![CDATA[cut off", "```\ncut off\n```"),
        ("<p ac:name=x>unquoted</p><p class='a' class='b'>twice</p>", "unquoted\n\ntwice"),
        ("plain words", "plain words"),
    ],
)  # fmt: skip
def test_malformed_markup_loses_tags_but_no_words(storage, markdown):
    assert to_markdown(storage, SITE) == markdown


def test_pages_cannot_declare_entities_or_read_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    doctype = f'<!DOCTYPE x [<!ENTITY f SYSTEM "{secret.as_uri()}"><!ENTITY lol "ha ha">]>'
    text = to_markdown(f"{doctype}<p>&f; and &lol;</p>", SITE)
    assert "hunter2" not in text
    assert text.endswith("&f; and &lol;")


def test_entity_bombs_are_not_expanded():
    levels = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    started = time.process_time()
    text = to_markdown(f'<!DOCTYPE x [<!ENTITY l0 "ha">{levels}]><p>&l9;</p>', SITE)
    assert time.process_time() - started < 5
    assert text.endswith("&l9;")
    assert len(text) < 2_000


@pytest.mark.parametrize("depth", [100, 300, 1_000, 3_000, 20_000])
@pytest.mark.parametrize("tag", ["div", "span", "ac:layout-cell", "ul"])
def test_deeply_nested_tags_become_plain_text(depth, tag):
    text = to_markdown(f"<{tag}>" * depth + f"깊은 &amp; {cdata('<x>')}", SITE)
    assert text.split("- ")[-1].strip() == "깊은 & <x>"


def test_plain_text_contains_text_between_tags_and_in_code():
    storage = f"<p>a &lt; b</p>{macro('code', plain='x < 1 && y ]]>')}<p title='t'>&euro; < 5"
    assert " ".join(plain_text(storage).split()) == "a < b x < 1 && y ]]> € < 5"


def test_large_tables_are_converted_in_linear_time():
    link = "<ac:link><ri:page ri:content-title='P'/></ac:link>"
    row = f"<tr><td>값&nbsp;<strong>x</strong></td><td>{link}</td><td>{'y' * 400}</td></tr>"

    def convert(rows):
        text = to_markdown(f"<table><tbody>{row * rows}</tbody></table>", SITE)
        assert text.count("\n") == rows

    require_linear_time(convert, 2_000)


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "&",
        "&a",
        "&a;",
        "<!",
        "<![CDATA[",
        "]]>",
        "<p ",
        "<p>",
        "</p>",
        "<br/>",
        "<a href='",
        "글",
    ],
)
def test_hostile_texts_are_converted_in_linear_time(unit):
    def convert(chars):
        text = unit * (chars // len(unit))
        to_markdown(f"<p>x</p>{text}", SITE)
        to_markdown(macro("foo", data=cdata(text)), SITE)

    require_linear_time(convert, 100_000)


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_text_is_converted(storage):
    assert isinstance(to_markdown(storage, SITE), str)


PIECES = st.sampled_from([
    "<p>", "</p>", "<table>", "<tr>", "<td>", "</td>", "<ac:link>", "</ac:link>", "<ul>", "<li>",
    "<ri:page ri:content-title='T'/>", "<ac:image>", "<ac:structured-macro ac:name='code'>",
    "<ac:structured-macro ac:name='info'>", "</ac:structured-macro>", "<ac:parameter ac:name='x'>",
    "<ac:rich-text-body>", "<ac:plain-text-body>", "<![CDATA[", "]]>", "&nbsp;", "&", "<", ">",
    "<ac:task-list>", "<ac:task>", "<ac:task-body>", "<ac:adf-extension>", "<ac:adf-content>",
    "<ac:structured-macro ac:name='roadmap'>", "<ac:structured-macro ac:name='html'>", "<pre>",
    "<ac:structured-macro/>", "<ac:link/>", "<time/>", "<a href='http://['>", "<h2>", "글", "\n",
    "<ac:structured-macro ac:name='include'>", "<ac:parameter>", "<!--", "<?x", "<!DOCTYPE y [",
])  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(deadline=None, max_examples=examples(300))
def test_any_malformed_markup_is_converted(storage):
    assert isinstance(to_markdown(storage, SITE), str)
