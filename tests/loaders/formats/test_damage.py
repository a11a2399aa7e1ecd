"""Damaged files are read or rejected, and quickly."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import UnreadableError
from loaders.formats import read_document
from loaders.formats.content import clean
from tests.loaders.formats.files import docx_file, zipped
from tests.loaders.formats.ole_files import (
    hwp_cell,
    hwp_control,
    hwp_file,
    hwp_paragraph,
    hwp_style,
    msg_file,
    record,
)
from tests.loaders.formats.zipped_files import epub_file, hwpx_file, odf_file
from tests.quick import examples

ODT = "<text:h text:outline-level='1'>T</text:h><text:list><text:list-item><text:p>x</text:p>"
ODT += "</text:list-item></text:list><table:table><table:table-row><table:table-cell>"
ODT += "<text:p>x</text:p></table:table-cell></table:table-row></table:table>"
MAIL = (
    b"From: a@b.c\r\nSubject: =?utf-8?B?7Jew7LCo?=\r\nDate: Sat, 21 Nov 2026 10:00:00 +0900\r\n"
    b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain; '
    b"charset=euc-kr; format=flowed\r\n\r\ntext \r\nmore\r\n--x\r\nContent-Type: text/csv; "
    b"name*=utf-8''%EC%97%B0.csv\r\nContent-Transfer-Encoding: base64\r\n\r\nYTtiCjE7Mgo=\r\n"
    b"--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner\r\n--x--\r\n"
)
RTF = (
    rb"{\rtf1\ansi\ansicpg949\deff0{\fonttbl{\f0\fcharset129 B;}}{\info{\title T}}\uc1 a\u50672?"
    rb"\'b0\'a1{\footnote note}\par\trowd\clvmrg\cellx9\pard\intbl x\cell\row{\pict\bin4 abcd}"
    rb"{\*\ud{x}}\pard\outlinelevel0 h\par{\listtext 1.\tab}item\par}"
)
HWP = hwp_paragraph("가") + hwp_control("tbl ", 1) + record(77, 2, bytes(8)) + hwp_cell("x", 0, 0)
NOTEBOOK = {
    "metadata": {"kernelspec": {"language": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# a"]},
        {"cell_type": "code", "source": "x", "outputs": [{"data": {"text/plain": "1"}}]},
    ],
}
FILES = {
    "a.eml": MAIL,
    "a.msg": msg_file({"0037": "s", "1000": "b"}, attachments=[("a.txt", b"text")]),
    "a.rtf": RTF,
    "a.odt": odf_file("text", ODT),
    "a.ods": odf_file("spreadsheet", ODT),
    "a.odp": odf_file("presentation", f"<draw:page>{ODT}</draw:page>"),
    "a.epub": epub_file({"a.xhtml": "<body><p>text</p></body>"}, title="t", author="a"),
    "a.hwp": hwp_file([HWP], info=hwp_style("개요 1"), preview="x"),
    "b.hwp": hwp_file([HWP], info=hwp_style("개요 1"), flags=0),
    "a.hwpx": hwpx_file("<hp:p><hp:run><hp:t>a<hp:tab/></hp:t></hp:run></hp:p>", title="t"),
    "a.ipynb": json.dumps(NOTEBOOK).encode(),
    "a.xml": b'<?xml version="1.0"?><a><t b="c d">x <i>y</i></t><title>z</title></a>',
    "a.yaml": b"a: &x [1, {b: ~}]\nc: *x\n<<: {d: !t e}\n---\n- 1\n",
    "a.tsv": b"a\tb\n1\t2\n",
    "a.zip": zipped({"a.txt": b"text", "b.docx": docx_file(), "c.zip": zipped({"d.md": b"# x"})}),
}
SUFFIXES = sorted({name.rpartition(".")[2] for name in FILES})
SECONDS = 2.0


def assert_read_or_rejected(name, data):
    started = time.process_time()
    try:
        text = read_document(name, data).page_content
    except UnreadableError:
        text = "rejected"
    assert text == clean(text)
    assert text.strip()
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("name", FILES)
def test_undamaged_files_are_read(name):
    assert read_document(name, FILES[name]).page_content


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_are_read_or_rejected(name, data):
    whole = FILES[name]
    cut, at = (data.draw(st.integers(0, len(whole))) for _ in range(2))
    junk = data.draw(st.binary(max_size=8))
    assert_read_or_rejected(name, whole[:cut])
    assert_read_or_rejected(name, whole[:at] + junk + whole[at + len(junk) :])
    assert_read_or_rejected(name, whole[:at] + junk + whole[at:])


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.binary(max_size=400))
@settings(deadline=None, max_examples=examples(40))
def test_arbitrary_bytes_are_read_or_rejected(suffix, data):
    assert_read_or_rejected(f"a.{suffix}", data)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_files_are_rejected(suffix):
    with pytest.raises(UnreadableError, match=r"^the file is empty$"):
        read_document(f"a.{suffix}", b"")


@pytest.mark.parametrize("suffix", ["odt", "ods", "odp", "epub", "hwpx", "zip"])
def test_truncated_archives_are_rejected(suffix):
    with pytest.raises(UnreadableError, match=rf"damaged, incomplete, or not a \.{suffix} file"):
        read_document(f"a.{suffix}", FILES[f"a.{suffix}"][:-200])


@pytest.mark.parametrize("suffix", ["msg", "hwp"])
def test_truncated_compound_files_are_rejected(suffix):
    with pytest.raises(UnreadableError, match="damaged or not a "):
        read_document(f"a.{suffix}", FILES[f"a.{suffix}"][:700])
