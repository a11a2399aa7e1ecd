from chains.requests.built_in_answer import MAX_CHARS, first_lines, whole_sentences
from tests.chains.documents import LEAVE, passages_of


def words_of(text):
    [passage] = passages_of("A", [([], text)])
    return [one.words for one in whole_sentences(passage)]


def test_whole_sentences_are_in_text_order():
    assert words_of("The lamp blinks twice a minute. Press the red button to stop it.") == [
        "The lamp blinks twice a minute.",
        "Press the red button to stop it.",
    ]


def test_fragments_headings_tables_code_and_questions_are_omitted():
    assert words_of("# The heading of a section\n\n") == []
    assert words_of("| Grade of employee | Days of leave |\n|---|---|\n| Junior | 25 |") == []
    assert words_of("```\nrun the whole program at once\n```") == []
    assert words_of("How many days of annual leave are there?") == []
    assert words_of("Follow these four steps to connect:") == []
    assert words_of("and so the second half of a sentence goes on.") == []
    assert words_of("Short one.") == []
    assert words_of("Long list, " * (MAX_CHARS // 10) + "end.") == []


def test_a_list_item_has_no_bullet():
    assert words_of("- Sabbatical leave after six completed years") == [
        "Sabbatical leave after six completed years"
    ]


def test_a_sentence_has_its_position_in_the_document():
    text = "\n\n".join(passage.page_content for passage in LEAVE)
    for passage in LEAVE:
        for one in whole_sentences(passage):
            assert text[one.start :].startswith(one.words)


def test_the_first_lines_include_anything_quotable():
    rows = passages_of("A", [([], "| Grade of employee | Days |\n|---|---|\n| Junior | 25 |")])
    assert list(first_lines(rows)) == [(0, "Grade of employee | Days"), (0, "Junior | 25")]
