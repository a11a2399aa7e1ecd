"""What reviewers say again and again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Pattern, Review
from domain.language.sentences import split_sentences
from services.catalog.review_patterns import find_patterns, tags_of
from tests.services.catalog.catalog_material import FewWords


def document(*told):
    """A place's text with these reviews, each a text or (group, text)."""
    text, reviews = "# Trattoria\n\n## Reviews\n", []
    for one in told:
        group, words = one if isinstance(one, tuple) else ("", one)
        text += f"\n### {group or 'Review'}\n\n"
        reviews.append(Review(len(text), len(text) + len(words), group))
        text += words + "\n"
    return text, reviews


def patterns(*told, **options):
    return find_patterns(*document(*told), FewWords().mentions, **options)


def said(pattern):
    return pattern.aspect, pattern.group, pattern.praises, pattern.count, pattern.reviews


def test_what_two_reviews_say_is_a_pattern_and_what_one_says_is_none():
    found = patterns("The pasta was tasty.", "Really tasty bread!", "A rude waiter served us.")
    assert list(map(said, found)) == [("food", "", True, 2, 3)]
    assert [quote.text for quote in found[0].quotes] == [
        "The pasta was tasty.",
        "Really tasty bread!",
    ]


def test_a_review_that_says_it_twice_counts_once():
    assert patterns("Tasty? So tasty. Very tasty.", "Just bland.") == ()


def test_what_only_mentions_an_aspect_neither_praises_nor_blames_it():
    assert patterns("We had the pasta.", "They have pasta.") == ()


def test_groups_are_told_apart():
    found = patterns(
        ("korean", "정말 맛있어요. 또 갈게요."),
        ("korean", "음식이 맛있습니다."),
        ("local", "All of it was tasty."),
        ("local", "Very tasty food here."),
        ("local", "I would come again."),
    )
    assert list(map(said, found)) == [
        ("food", "korean", True, 2, 2),
        ("food", "local", True, 2, 3),
    ]


def test_who_praises_and_blames_counts_for_both_and_is_quoted_last():
    found = patterns(
        "It was tasty at first. It was bland at last.", "Everything is tasty.", "All was bland."
    )
    assert [(one.praises, one.count) for one in found] == [(True, 2), (False, 2)]
    assert [quote.text for quote in found[0].quotes] == [
        "Everything is tasty.",
        "It was tasty at first.",
    ]


def test_the_sentence_that_speaks_of_nothing_else_is_quoted_first():
    found = patterns(
        "Tasty food and kind people.", "The food was tasty all evening.", "Tasty, though. " * 3
    )
    food = next(one for one in found if one.aspect == "food")
    assert food.quotes[0].text == "The food was tasty all evening."


def test_a_sentence_that_proves_nothing_is_quoted_last():
    found = patterns("Tasty!", "The soup was tasty too.")
    assert [quote.text for quote in found[0].quotes] == ["The soup was tasty too.", "Tasty!"]


def test_the_same_words_are_quoted_once_and_counted_each_time():
    (found,) = patterns("The soup was tasty.", "The soup was tasty.", "THE SOUP was tasty.")
    assert found.count == 3
    assert len(found.quotes) == 1


def test_at_most_three_quotes_from_different_reviews():
    (found,) = patterns(*(f"Dish number {n} was tasty. Dish {n} again: tasty." for n in range(5)))
    assert found.count == 5
    assert len(found.quotes) == 3
    assert len({quote.text[12] for quote in found.quotes}) == 3


def test_the_more_frequent_comes_first_then_the_larger_share_then_the_aspects_order():
    found = patterns(
        *[("local", "So kind to us all.")] * 2,
        ("local", "Nothing to say of it."),
        *[("korean", "They were kind to us.")] * 2,
        *[("local", "It is pretty inside.")] * 3,
        *[("korean", "A tasty stew for all.")] * 2,
        aspects=("service", "food"),
    )
    assert [(one.aspect, one.group, one.rank) for one in found] == [
        ("decor", "local", 1),
        ("service", "korean", 2),
        ("food", "korean", 3),
        ("service", "local", 4),
    ]


def test_only_the_top_is_given_unless_all_is_asked_for():
    told = [f"kind, tasty and pretty, says {name}." for name in ("Ann", "Bo")]
    assert len(patterns(*told, top=2)) == 2
    assert len(patterns(*told, top=None)) == 3


def test_no_reviews_say_nothing():
    assert patterns() == ()


@pytest.mark.parametrize(
    ("praise", "blame", "tags"),
    [(4, 2, ("food",)), (4, 3, ()), (2, 0, ("food",)), (0, 5, ())],
)
def test_a_tag_is_praised_by_twice_as_many_as_blame_it(praise, blame, tags):
    told = [Pattern("food", "", True, praise, 9, ())] if praise else []
    told += [Pattern("food", "local", False, blame, 9, ())] if blame else []
    assert tags_of(told) == tags


def test_tags_are_the_four_praised_most_over_all_groups():
    told = [Pattern(name, "local", True, 2 + at, 9, ()) for at, name in enumerate("abcde")]
    told.append(Pattern("a", "korean", True, 7, 9, ()))
    assert tags_of(told) == ("a", "e", "d", "c")


SENTENCES = st.sampled_from(
    [
        "It was tasty.",
        "맛있어요!",
        "So bland...",
        "직원이 친절했습니다.",
        "kind and tasty",
        "A pasta.\n\n",
    ]
)
REVIEWS = st.tuples(
    st.sampled_from(["", "korean", "local"]),
    st.lists(SENTENCES | st.text(max_size=30), max_size=4).map(" ".join),
)


@given(st.lists(REVIEWS, max_size=12))
def test_quotes_are_whole_sentences_just_as_they_stand_in_different_reviews(told):
    text, reviews = document(*told)
    for pattern in find_patterns(text, reviews, FewWords().mentions):
        homes = set()
        for quote in pattern.quotes:
            assert text[quote.start : quote.end] == quote.text
            (home,) = [r for r in reviews if r.start <= quote.start and quote.end <= r.end]
            inner = split_sentences(text[home.start : home.end])
            assert (quote.start - home.start, quote.end - home.start) in inner
            assert home.group == pattern.group
            homes.add(home.start)
        assert len(homes) == len(pattern.quotes)


@given(st.lists(REVIEWS, max_size=12))
def test_patterns_are_counted_ranked_and_the_same_again(told):
    text, reviews = document(*told)
    found = find_patterns(text, reviews, FewWords().mentions)
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    assert [-one.count for one in found] == sorted(-one.count for one in found)
    for one in found:
        assert 2 <= one.count <= one.reviews == sum(r.group == one.group for r in reviews)
        assert 1 <= len(one.quotes) <= min(3, one.count)
    assert find_patterns(text, reviews, FewWords().mentions) == found
