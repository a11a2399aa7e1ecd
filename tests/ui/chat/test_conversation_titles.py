from hypothesis import given
from hypothesis import strategies as st

from ui.chat.conversation_titles import _cut, distinct_titles

NEW = "How many days of annual leave do new employees get?"
OLD = "How many days of annual leave do experienced employees get?"
SICK = "How many days of sick leave need no note?"
WORDS = st.sampled_from(
    ["How", "many", "days", "of", "leave", "새", "직원의", "有給休暇は", "x" * 40]
)
TITLES = st.lists(WORDS, max_size=12).map(" ".join)


def titles(*texts: str, notes: tuple[str, ...] = ()) -> list[str]:
    return distinct_titles(texts, notes or [""] * len(texts), cells=30)


def test_titles_that_look_different_are_not_changed() -> None:
    assert titles(NEW, SICK, "Hello") == [NEW, SICK, "Hello"]


def test_titles_that_begin_alike_show_the_part_that_differs() -> None:
    assert titles(NEW, OLD) == ["How many… new employees get?", "How many… experienced employe…"]


def test_a_title_that_another_one_continues_stays_recognizable() -> None:
    short = "How many days of annual leave do I"
    expected = ["How many days of annual… I", "How many days of… I get?"]
    assert titles(short, f"{short} get?") == expected


def test_titles_without_spaces_are_shortened_between_letters() -> None:
    start = "新入社員の有給休暇は入社してから何日ぐらい"
    first, second = titles(f"{start}もらえますか", f"{start}使えますか")
    assert first.endswith("…もらえますか")
    assert second.endswith("…使えますか")


def test_equal_titles_show_their_notes() -> None:
    shown = titles(NEW, NEW, SICK, notes=("09:15", "16:05", "17:00"))
    assert shown == ["How many days of annual… 09:15", "How many days of annual… 16:05", SICK]


def test_equal_titles_with_equal_notes_are_numbered() -> None:
    assert titles("Hello", "Hello", notes=("09:15", "09:15")) == ["Hello 09:15", "Hello 09:15 (2)"]


def test_white_space_is_collapsed() -> None:
    assert titles("two\n  lines ") == ["two lines"]


@given(st.lists(TITLES, max_size=8), st.integers(12, 40))
def test_visible_titles_differ_and_fit(texts: list[str], cells: int) -> None:
    shown = distinct_titles(texts, [""] * len(texts), cells)
    assert len({_cut(one, cells) for one in shown}) == len(texts)
    changed = [one for one, text in zip(shown, texts, strict=True) if "…" in one]
    assert all(width(one) <= cells for one in changed)


def width(text: str) -> int:
    return sum(2 if one >= "\u1100" else 1 for one in text.replace("…", "."))
