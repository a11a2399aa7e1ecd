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


KEYS = ("3f9a", "81bc", "07de", "c4f2", "5a60", "e913", "2b7d", "96af")


def titles(
    *texts: str, notes: tuple[str, ...] = (), keys: tuple[str, ...] = KEYS, cells: int = 30
) -> list[str]:
    first = notes or ("09:15",) * len(texts)
    pairs = [(note, f"{note} {key}") for note, key in zip(first, keys, strict=False)]
    return distinct_titles(texts, pairs, cells)


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


def test_equal_titles_with_equal_notes_show_their_next_notes() -> None:
    shown = titles("Hello", "Hello", notes=("09:15", "09:15"))
    assert shown == ["Hello 09:15 3f9a", "Hello 09:15 81bc"]


def test_equal_titles_that_begin_like_others_show_the_part_that_differs_too() -> None:
    assert titles(NEW, OLD, NEW, OLD, notes=("02:07", "02:07", "02:08", "02:08")) == [
        "How many… new employees… 02:07",
        "How many… experienced e… 02:07",
        "How many… new employees… 02:08",
        "How many… experienced e… 02:08",
    ]
    assert titles(NEW, OLD, NEW, OLD, notes=("02:07",) * 4) == [
        "How many… new empl… 02:07 3f9a",
        "How many… experien… 02:07 81bc",
        "How many… new empl… 02:07 07de",
        "How many… experien… 02:07 c4f2",
    ]


def test_a_title_does_not_change_when_one_of_several_equal_ones_is_removed() -> None:
    shown = titles("Hello", "Hello", "Hello", notes=("02:07",) * 3)
    rest = titles("Hello", "Hello", notes=("02:07",) * 2, keys=(KEYS[0], KEYS[2]))
    assert rest == [shown[0], shown[2]]


def test_white_space_is_collapsed() -> None:
    assert titles("two\n  lines ") == ["two lines"]


@given(st.lists(TITLES, max_size=8), st.integers(12, 40))
def test_visible_titles_differ_and_fit(texts: list[str], cells: int) -> None:
    shown = titles(*texts, cells=cells)
    assert len({_cut(one, cells) for one in shown}) == len(texts)
    changed = [one for one, text in zip(shown, texts, strict=True) if "…" in one]
    assert all(width(one) <= cells for one in changed)


def width(text: str) -> int:
    return sum(2 if one >= "\u1100" else 1 for one in text.replace("…", "."))
