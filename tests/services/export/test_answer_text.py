import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.answer_reader import read_answer
from chains.citations.markers import Marker, as_markdown
from services.export.answer_text import PlainAnswer, marker_spans, plain_answer
from services.export.safe_markdown import markdown_to_html

PARTS = ["[42]", "[1]", "[1, 2]", '[1: "two words"]', "【1】", "［２］", "[150]", "[1](x)", "[0]",
         "[", "]", "(", "\\", "`", "```", "~~~", "\n", " ", "a", "⟦3⟧", "[2024]",
         "[007]"]  # fmt: skip
answers = st.lists(st.sampled_from(PARTS), max_size=20).map("".join)


def numbers(answer):
    return [n for n, _, _ in marker_spans(answer)]


@given(answers)
def test_a_stored_answer_has_the_same_markers_as_the_answer_of_the_model(answer):
    pieces = read_answer(answer, ())
    cited = [one.n for piece in pieces if isinstance(piece, Marker) for one in piece.claims]
    assert numbers(as_markdown(pieces)) == cited


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("15 days [1], see \\[42\\] [2][3].", [1, 2, 3]),
        ("15日［１］【2】", []),
        ("`rows[1]` [2]", [2]),
        ("```\n[1]\n```\n[2]", [2]),
        ("[1](x)", [1]),
        ("[0] [1000]", []),
    ],
)
def test_only_unescaped_markers_outside_code_are_read(answer, cited):
    assert numbers(answer) == cited
    assert all(answer[start:end] == f"[{n}]" for n, start, end in marker_spans(answer))


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("15 days [1], see \\[42\\] [2][3].", [1, 2, 3]),
        ("`rows[1]` and \\\\[2]", [2]),
        ("| a [1] | b |\n|---|---|\n| \\[1\\] | [2] |", [1, 2]),
        ("*[1]* **\\[2\\]**", [1]),
    ],
)
def test_html_replaces_the_same_markers(answer, cited):
    calls = []

    def marker(n):
        calls.append(n)
        return f"<sup>{n}</sup>"

    html = markdown_to_html(answer, marker, heading=2)
    assert calls == cited == numbers(answer)
    assert html.count("<sup>") == len(cited)


def test_a_marker_without_html_stays_text():
    assert markdown_to_html("a [1]<", lambda _n: "", heading=2) == "<p>a [1]&lt;</p>\n"


def test_a_plain_answer_has_escapes_only_in_code():
    stored = "See \\[42\\] and 2\\*3 [1], `a\\[0\\]` and C:\\temp\n```\n\\[1\\]\n```"
    assert (
        plain_answer(stored) == "See [42] and 2*3 [1], `a\\[0\\]` and C:\\temp\n```\n\\[1\\]\n```"
    )


@given(answers, st.data())
def test_a_plain_answer_does_not_depend_on_how_the_text_is_split(answer, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=8)))
    plain = PlainAnswer()
    parts = [
        plain.write(answer[start:end])
        for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True)
    ]
    assert "".join(parts) + plain.close() == plain_answer(answer)
