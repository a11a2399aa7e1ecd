from hypothesis import given
from hypothesis import strategies as st

from chains.citations.quotes import find_quote
from chains.requests.summary import MAX_SENTENCES, SHARE, central_sentences
from tests.chains.documents import LEAVE, passages_of


def test_an_extract_begins_with_the_opening_and_follows_the_sections():
    extract = central_sentences(LEAVE)
    assert extract[0].words == "This policy covers everyone employed in Bristol."
    assert [one.section for one in extract] == ["", "Annual leave", "Sick leave"]
    assert [one.index for one in extract] == [0, 1, 2]


def test_each_section_is_represented_by_its_most_central_sentence():
    [_, annual, sick] = central_sentences(LEAVE)
    assert "annual leave" in annual.words.lower()
    assert "sick leave" in sick.words


def test_words_common_in_the_library_count_less():
    def idf(tokens):
        return {
            token: 5.0 if token in {"weather", "mild", "dri", "often"} else 0.1 for token in tokens
        }

    [_, annual, _] = central_sentences(LEAVE, idf)
    assert annual.words == "The weather in March is often mild and dry."


def test_an_extract_is_shorter_than_the_document_and_bounded():
    short = passages_of("A", [([], "One sentence that is whole. Another sentence that is whole.")])
    assert len(central_sentences(short)) <= 2
    text = " ".join(
        f"Rule {n} of the house says {n * 7} times thing{n} must go." for n in range(90)
    )
    assert len(central_sentences(passages_of("A", [([], text)]))) == MAX_SENTENCES


def test_repeated_sentences_are_extracted_once():
    same = "The gate of the harbor closes at nine in the evening. " * 12
    assert len(central_sentences(passages_of("A", [(["A"], same), (["B"], same)]))) == 1


def test_a_document_of_tables_is_quoted_from_its_beginning():
    rows = "| Grade of employee | Days |\n|---|---|\n" + "| Junior grade | 25 days |\n" * 9
    extract = central_sentences(passages_of("A", [([], rows)]))
    assert 1 <= len(extract) <= SHARE
    assert extract[0].words == "Grade of employee | Days"


def test_an_empty_document_has_no_sentences():
    assert central_sentences([]) == []
    assert central_sentences(passages_of("A", [([], "   \n\n")])) == []


WORDS = st.sampled_from(
    ["Leave", "days", "12", "휴가", "休暇", "is", ".", "。", "\n\n", "# ", "- ", "|", "["]
)


@given(
    st.lists(st.tuples(st.sampled_from(["", "A", "B"]), st.lists(WORDS, max_size=40)), max_size=6)
)
def test_every_extracted_sentence_is_verifiable_in_its_passage(sections):
    passages = passages_of(
        "T", [([path] if path else [], " ".join(text)) for path, text in sections]
    )
    extract = central_sentences(passages)
    assert len(extract) <= MAX_SENTENCES
    for one in extract:
        assert find_quote(passages[one.index].page_content, one.words)
