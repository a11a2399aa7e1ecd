import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.split import split
from tests.linear_time import require_linear_time
from tests.quick import examples

SAMPLES = sorted((Path(__file__).parents[2] / "samples" / "documents").rglob("*.md"))
LINES = [
    "# One\n",
    "## Two ##\n",
    "### \n",
    "    # code\n",
    "#",
    "| a | b |\n",
    "- item\n",
    "1. x\n",
]
FENCES = ["```\n", "```py\n", "~~~\n", "````\n"]
LINE_ENDS = ["\n", "\n\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"]
WORDS = ["word ", "Ends. ", "終わり。", "「はい。」", "했습니다. ", "あ" * 40, "x" * 40, " ", "\t"]
ODDITIES = ["\uffff", "\u200b", "\x00", "\ud800", "e\u0301"]
PIECES = st.sampled_from([*LINES, *FENCES, *LINE_ENDS, *WORDS, *ODDITIES])
TEXTS = st.lists(st.one_of(PIECES, PIECES, st.text(max_size=20)), max_size=40).map("".join)
SIZES = st.integers(1, 120).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1)))


def passages_of(text, *, size=1000, overlap=150, **more):
    options = {"document_id": "handbook", "version": "1"} | more
    return split(text, size=size, overlap=overlap, **options)


def texts_of(text, **sizes):
    return [passage.text for passage in passages_of(text, **sizes)]


def assert_valid(text, passages, size):
    covered, last_start = 0, -1
    for number, passage in enumerate(passages):
        assert passage.ordinal == number
        assert text[passage.start : passage.end] == passage.text
        assert passage.text.strip() == passage.text != ""
        assert len(passage.text) <= size
        assert passage.start > last_start
        assert passage.end > covered
        assert text[covered : passage.start].strip() == ""
        covered, last_start = passage.end, passage.start
    assert text[covered:].strip() == ""
    assert len({passage.id for passage in passages}) == len(passages)


@settings(max_examples=examples(400), deadline=None)
@given(TEXTS, SIZES)
def test_passages_are_exact_ordered_bounded_and_complete(text, sizes):
    size, overlap = sizes
    assert_valid(text, passages_of(text, size=size, overlap=overlap), size)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize(("size", "overlap"), [(1000, 150), (200, 50), (40, 0)])
def test_passages_of_the_sample_documents_are_valid(path, size, overlap):
    text = path.read_text(encoding="utf-8")
    assert_valid(text, passages_of(text, size=size, overlap=overlap), size)


HEADINGS = st.lists(st.tuples(st.integers(1, 6), st.sampled_from("ABC")), max_size=12)


@settings(deadline=None)
@given(HEADINGS)
def test_heading_paths_contain_all_enclosing_headings(headings):
    text = "".join(f"{'#' * level} {title}{n}\nbody\n" for n, (level, title) in enumerate(headings))
    expected, open_headings = [], {}
    for n, (level, title) in enumerate(headings):
        open_headings = {above: name for above, name in open_headings.items() if above < level}
        open_headings[level] = f"{title}{n}"
        expected.append(tuple(open_headings.values()))
    assert [passage.heading_path for passage in passages_of(text)] == expected


def test_headings_lose_their_number_signs_but_keep_wide_spaces():
    [passage] = passages_of("##  第1章\u3000総則 C# ##\r\n本文\r\n")
    assert passage.heading_path == ("第1章 総則 C#",)


def test_number_signs_in_code_do_not_start_headings():
    text = "# Setup\nrun\n```sh\n# install\nmake\n```\n\n    # indented code\n\nThen\n"
    assert [passage.heading_path for passage in passages_of(text)] == [("Setup",)]


def test_a_heading_without_text_is_joined_with_the_next_section():
    passages = passages_of("intro\n# Handbook\n\n## Leave\n15 days\n## Empty\n# End\nbye")
    assert [(p.text, p.heading_path) for p in passages] == [
        ("intro", ()),
        ("# Handbook\n\n## Leave\n15 days", ("Handbook", "Leave")),
        ("## Empty\n# End\nbye", ("End",)),
    ]


def test_small_sections_are_not_merged():
    assert texts_of("# A\none\n# B\ntwo") == ["# A\none", "# B\ntwo"]


def test_text_is_split_preferably_between_paragraphs():
    text = "\n\n".join(f"Paragraph {n} says. One more thing." for n in range(9))
    assert all(part.startswith("Paragraph") for part in texts_of(text, size=100, overlap=0))


@pytest.mark.parametrize(
    ("sentence", "end"),
    [
        ("서버를 배포하려면 먼저 확인합니다. ", "."),
        ("띄어쓰기 없이 이어서 씁니다.", "."),
        ("休暇は15日です。", "。"),
        ("「本当に、行きますか？」", "」"),
        ("Costs are 1.5 e.g. in use! ", "!"),
    ],
)
def test_long_paragraphs_are_split_between_sentences(sentence, end):
    parts = texts_of(sentence * 40, size=150, overlap=0)
    assert len(parts) > 2
    assert all(part.endswith(end) for part in parts)


def test_wrapped_lines_are_split_between_sentences_and_not_lines():
    text = "This sentence goes on over\ntwo lines of text.\n" * 20
    assert all(part.endswith(".") for part in texts_of(text, size=130, overlap=0))


def test_long_tables_are_split_between_rows():
    text = "\n".join(f"| row {n} | costs 1.50, or more. Or less |" for n in range(40))
    for part in texts_of(text, size=200, overlap=0):
        assert all(re.fullmatch(r"\|.*\|", line) for line in part.splitlines())


@pytest.mark.parametrize("code_chars", [60, 170, 195])
def test_code_that_fits_is_not_split(code_chars):
    code = "```py\n" + "x = 1\n\n" * (code_chars // 7) + "```"
    text = "\n".join(["Some words of text. " * 8, code, "More words of text. " * 8])
    assert any(code in part for part in texts_of(text, size=200, overlap=40))


def test_long_code_is_split_between_lines():
    lines = [f"call(number={n})" for n in range(100)]
    for part in texts_of("```\n" + "\n".join(lines) + "\n```", size=200, overlap=0):
        assert set(part.splitlines()) <= {*lines, "```"}


def test_a_passage_repeats_the_last_sentence_of_the_previous_one():
    sentences = [f"This is sentence number {n} of the section." for n in range(100, 160)]
    parts = texts_of(" ".join(sentences), size=400, overlap=100)
    for before, after in pairwise(parts):
        repeated = after[: after.index(".") + 1]
        assert repeated in sentences
        assert repeated in before


@settings(deadline=None)
@given(TEXTS, SIZES)
def test_the_repeated_text_is_no_longer_than_the_overlap(text, sizes):
    size, overlap = sizes
    passages = passages_of(text, size=size, overlap=overlap)
    for before, after in pairwise(passages):
        assert before.end - after.start <= overlap


def test_passages_do_not_overlap_across_sections():
    text = "".join(f"# Part {n}\n" + "Some words here. " * 40 + "\n" for n in range(5))
    for passage in passages_of(text, size=300, overlap=100):
        assert passage.text.startswith("# Part") or "# Part" not in passage.text


def test_sections_do_not_end_with_tiny_passages():
    text = "A sentence of some thirty chars. " * 26 + "The end."
    assert min(map(len, texts_of(text, size=900, overlap=100))) > 100


def test_a_passage_has_the_page_of_its_first_character():
    text = "before\n# A\none\n# B\ntwo\n# C\nthree"
    pages = [(text.index("# A"), 1), (text.index("two"), 2), (text.index("# C"), 3)]
    assert [p.page for p in passages_of(text, pages=pages)] == [None, 1, 1, 3]
    assert [p.page for p in passages_of(text)] == [None] * 4


def test_passage_ids_depend_only_on_the_document_version_and_sizes():
    text = "# A\none\n# B\ntwo"
    ids = [passage.id for passage in passages_of(text)]
    assert ids == [passage.id for passage in passages_of(text)]
    assert all(re.fullmatch(r"[0-9a-f]{32}", name) for name in ids)
    for other in ({"document_id": "x"}, {"version": "2"}, {"size": 999}, {"overlap": 149}):
        assert not {passage.id for passage in passages_of(text, **other)} & set(ids)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-5, 0), (100, 100), (100, 101), (10, -1)])
def test_invalid_sizes_are_rejected(size, overlap):
    with pytest.raises(ValueError, match="size"):
        passages_of("text", size=size, overlap=overlap)


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\u3000"])
def test_a_text_without_words_has_no_passages(text):
    assert passages_of(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "word ",
        "abcdefghij",
        ".",
        '. "',
        "a\n",
        "\n ",
        "```\n",
        "~~~\n```\nx\n",
        "a,",
        "。",
        "| a |\n",
    ],
)
def test_texts_are_split_in_linear_time(text):
    def split_chars(chars):
        passages_of("start " + text * (chars // len(text)))

    require_linear_time(split_chars, 300_000)
