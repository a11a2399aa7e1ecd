import os
import time
from pathlib import Path

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document

DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", Path(__file__).parents[4] / "shared" / "data"))
ENCODED = sorted((DATA / "documents" / "encodings").glob("*.xml"))


def read(text, encoding="utf-8"):
    return read_document("a.xml", text.encode(encoding))


def test_records_become_lines_of_name_and_value():
    text = read(
        "<staff><person><name>김</name><days>15</days></person>"
        "<person><name>佐藤</name><days>10</days></person></staff>"
    ).page_content
    assert text == "name: 김\ndays: 15\n\nname: 佐藤\ndays: 10"


def test_only_attributes_with_words_are_read():
    text = read(
        '<a><site city="서울 본사" id="s-1" href="http://x"/>'
        '<rule lang="ko" for="staff">15일</rule></a>'
    ).page_content
    assert text == "site: 서울 본사\nrule staff: 15일"


def test_feed_entries_become_sections_with_their_html_converted():
    document = read(
        "<rss><channel><title>소식</title><image><url>http://x/a.gif</url><title>소식</title></image>"
        "<item><title>휴가</title><pubDate>2026-11-21</pubDate>"
        "<description>&lt;p&gt;연차는 &lt;b&gt;15일&lt;/b&gt;.&lt;/p&gt;</description></item>"
        "<item><title>休暇</title><description><![CDATA[<ul><li>15日</li></ul>]]></description></item>"
        "</channel></rss>"
    )
    assert document.page_content == (
        "# 소식\n\n## 휴가\n\npubDate: 2026-11-21\n\n연차는 15일.\n\n## 休暇\n\n- 15日"
    )
    assert document.metadata["title"] == "소식"


def test_docbook_elements_become_markdown():
    text = read(
        "<book><title>Guide</title><chapter><title>Leave</title>"
        "<para>You get <emphasis>15</emphasis> days.</para><itemizedlist><listitem><para>one</para>"
        "</listitem><listitem><para>two</para>"
        '</listitem></itemizedlist><programlisting language="python">x = 1\ny = 2</programlisting>'
        "<table><title>Days</title><tgroup><thead><row><entry>Team</entry><entry>Days</entry></row>"
        "</thead><tbody><row><entry>A</entry><entry>15</entry></row></tbody></tgroup></table>"
        "</chapter></book>"
    ).page_content
    assert text == (
        "# Guide\n\n## Leave\n\nYou get 15 days.\n\n- one\n- two\n\n```python\nx = 1\ny = 2\n```"
        "\n\nDays\n\n| Team | Days |\n| --- | --- |\n| A | 15 |"
    )


@pytest.mark.parametrize(
    ("encoding", "words"), [("euc-kr", "연차는 열닷새"), ("shift_jis", "有給休暇は十五日")]
)
def test_the_declared_encoding_is_used(encoding, words):
    declared = f'<?xml version="1.0" encoding="{encoding}"?><a><p>{words}</p></a>'
    assert read(declared, encoding).page_content == words


def test_entities_are_neither_fetched_nor_expanded(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><a><p>text &x;</p></a>'
    assert "secret" not in read(text).page_content.replace(str(secret), "")
    laughs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    started = time.process_time()
    assert "hahaha" not in read(f"<!DOCTYPE a [{laughs}]><a><p>text &e11;</p></a>").page_content
    assert time.process_time() - started < 2


def test_invalid_xml_is_read_as_far_as_possible_with_a_warning():
    document = read("<a><p>one</p>\n<p>two &nope; <b>three</p></a>")
    assert document.page_content.startswith("one")
    assert document.metadata["warnings"] == [
        "the XML is invalid at line 2: some of its text may be missing"
    ]


def test_files_that_are_not_xml_are_rejected():
    with pytest.raises(UnreadableError, match="the XML is invalid at line 1, and none of it"):
        read("just words")


def test_too_deeply_nested_xml_is_rejected():
    text = "<a>" * 5000 + "deep" + "</a>" * 5000
    with pytest.raises(UnreadableError):
        read(text)


@pytest.mark.skipif(not ENCODED, reason="the data set documents is absent")
def test_real_feeds_are_decoded_without_replacement_characters():
    for path in ENCODED:
        document = read_document(path.name, path.read_bytes())
        assert len(document.page_content) > 50, path.name
        assert "\ufffd" not in document.page_content, path.name
