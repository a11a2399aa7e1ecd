"""Surrogate pairs in texts, and those whose halves are in two pieces of a text."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from domain.language.sanitization import sanitize
from domain.language.surrogate_pairs import PieceSanitizer, join_pairs

HALVES = "\ud842\udfb7\ud83d\ude00"
letters = st.characters(codec=None, exclude_categories=())
texts = st.text(letters | st.sampled_from("a😀𠮷" + HALVES))


def units_of(text):
    """The UTF-16 units of the text, as one character each."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(
        chr(int.from_bytes(encoded[n : n + 2], "little")) for n in range(0, len(encoded), 2)
    )


def pieces_of(text, cuts):
    ends = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(ends)]


def joined(pieces):
    sanitizer = PieceSanitizer()
    return "".join([*map(sanitizer.read, pieces), sanitizer.close()])


cut_lists = st.lists(st.integers(0, 100), max_size=10)


@given(texts, cut_lists)
@example("a\ud842\udfb7b", [2])
def test_pieces_of_a_text_are_the_whole_text(text, cuts):
    expected = sanitize(join_pairs(text))
    assert joined(pieces_of(text, cuts)) == expected
    assert joined(pieces_of(units_of(text), cuts)) == expected


@given(st.text(), cut_lists)
def test_a_valid_text_survives_any_split_of_its_utf_16_units(text, cuts):
    assert joined(pieces_of(units_of(text), cuts)) == text.replace("\0", "\ufffd")


@given(st.lists(st.sampled_from(["", "a", "😀", "\0"])))
def test_pieces_without_lone_surrogates_are_not_held_back(pieces):
    sanitizer = PieceSanitizer()
    assert [sanitizer.read(piece) for piece in pieces] == [sanitize(piece) for piece in pieces]
    assert sanitizer.close() == ""


def test_lone_surrogates_become_replacement_characters():
    assert joined(["a\ud83d", "b", "\ude00c"]) == "a\ufffdb\ufffdc"
    assert joined(["\ude00", "\ud83d"]) == "\ufffd\ufffd"
    assert joined(["a\ud83d", "", "\ud83d", "\ude00"]) == "a\ufffd😀"


def test_a_closed_text_has_no_influence_on_the_next():
    sanitizer = PieceSanitizer()
    assert (sanitizer.read("a\ud83d"), sanitizer.close()) == ("a", "\ufffd")
    assert (sanitizer.read("\ude00"), sanitizer.close()) == ("\ufffd", "")


@given(st.text())
def test_joining_pairs_changes_neither_characters_nor_lone_surrogates(text):
    assert join_pairs(text) == text
    assert join_pairs(units_of(text)) == text
    assert join_pairs(f"\ude00{text}\ud83d") == f"\ude00{text}\ud83d"
