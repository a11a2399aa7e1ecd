"""Judgments that several reviews share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Pattern, Review
from domain.language.sentences import split_sentences
from services.catalog.review_patterns import find_patterns, tags_of
from tests.services.catalog.catalog_material import FewWords


def document(*contents):
    """The text of a place with these reviews, each a text or (group, text), and their spans."""
    text, reviews = "# Trattoria\n\n## Reviews\n", []
    for content in contents:
        group, words = content if isinstance(content, tuple) else ("", content)
        text += f"\n### {group or 'Review'}\n\n"
        reviews.append(Review(len(text), len(text) + len(words), group))
        text += words + "\n"
    return text, reviews


def patterns(*contents, **options):
    return find_patterns(*document(*contents), FewWords().mentions, **options)


def summary_of(pattern):
    return pattern.aspect, pattern.group, pattern.praises, pattern.count, pattern.reviews


def test_a_pattern_needs_two_reviews():
    results = patterns("The pasta was tasty.", "Really tasty bread!", "A rude waiter served us.")
    assert list(map(summary_of, results)) == [("food", "", True, 2, 3)]
    assert [quote.text for quote in results[0].quotes] == [
        "The pasta was tasty.",
        "Really tasty bread!",
    ]


def test_a_review_counts_once():
    assert patterns("Tasty? So tasty. Very tasty.", "Just bland.") == ()


def test_neutral_mentions_are_not_patterns():
    assert patterns("We had the pasta.", "They have pasta.") == ()


def test_groups_have_separate_patterns():
    results = patterns(
        ("korean", "정말 맛있어요. 또 갈게요."),
        ("korean", "음식이 맛있습니다."),
        ("local", "All of it was tasty."),
        ("local", "Very tasty food here."),
        ("local", "I would come again."),
    )
    assert list(map(summary_of, results)) == [
        ("food", "korean", True, 2, 2),
        ("food", "local", True, 2, 3),
    ]


def test_a_mixed_review_counts_for_both_and_is_quoted_last():
    results = patterns(
        "It was tasty at first. It was bland at last.", "Everything is tasty.", "All was bland."
    )
    assert [(pattern.praises, pattern.count) for pattern in results] == [(True, 2), (False, 2)]
    assert [quote.text for quote in results[0].quotes] == [
        "Everything is tasty.",
        "It was tasty at first.",
    ]


def test_a_sentence_about_one_aspect_is_quoted_first():
    results = patterns(
        "Tasty food and kind people.", "The food was tasty all evening.", "Tasty, though. " * 3
    )
    food = next(pattern for pattern in results if pattern.aspect == "food")
    assert food.quotes[0].text == "The food was tasty all evening."


def test_a_very_short_sentence_is_quoted_last():
    results = patterns("Tasty!", "The soup was tasty too.")
    assert [quote.text for quote in results[0].quotes] == ["The soup was tasty too.", "Tasty!"]


def test_equal_quotes_are_shown_once_and_counted_each_time():
    (pattern,) = patterns("The soup was tasty.", "The soup was tasty.", "THE SOUP was tasty.")
    assert pattern.count == 3
    assert len(pattern.quotes) == 1


def test_a_pattern_has_at_most_three_quotes_of_different_reviews():
    (pattern,) = patterns(*(f"Dish number {n} was tasty. Dish {n} again: tasty." for n in range(5)))
    assert pattern.count == 5
    assert len(pattern.quotes) == 3
    assert len({quote.text[12] for quote in pattern.quotes}) == 3


def test_patterns_are_sorted_by_count_then_share_then_aspect():
    results = patterns(
        *[("local", "So kind to us all.")] * 2,
        ("local", "Nothing to say of it."),
        *[("korean", "They were kind to us.")] * 2,
        *[("local", "It is pretty inside.")] * 3,
        *[("korean", "A tasty stew for all.")] * 2,
        aspects=("service", "food"),
    )
    assert [(pattern.aspect, pattern.group, pattern.rank) for pattern in results] == [
        ("decor", "local", 1),
        ("service", "korean", 2),
        ("food", "korean", 3),
        ("service", "local", 4),
    ]


def test_the_number_of_patterns_can_be_limited():
    contents = [f"kind, tasty and pretty, says {name}." for name in ("Ann", "Bo")]
    assert len(patterns(*contents, top=2)) == 2
    assert len(patterns(*contents, top=None)) == 3


def test_without_reviews_there_are_no_patterns():
    assert patterns() == ()


@pytest.mark.parametrize(
    ("praise", "blame", "tags"),
    [(4, 2, ("food",)), (4, 3, ()), (2, 0, ("food",)), (0, 5, ())],
)
def test_a_tag_needs_twice_as_much_praise_as_criticism(praise, blame, tags):
    judgments = [Pattern("food", "", True, praise, 9, ())] if praise else []
    judgments += [Pattern("food", "local", False, blame, 9, ())] if blame else []
    assert tags_of(judgments) == tags


def test_tags_are_the_four_aspects_with_most_praise_over_all_groups():
    judgments = [
        Pattern(name, "local", True, 2 + index, 9, ()) for index, name in enumerate("abcde")
    ]
    judgments.append(Pattern("a", "korean", True, 7, 9, ()))
    assert tags_of(judgments) == ("a", "e", "d", "c")


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
def test_quotes_are_whole_sentences_of_different_reviews(contents):
    text, reviews = document(*contents)
    for pattern in find_patterns(text, reviews, FewWords().mentions):
        starts = set()
        for quote in pattern.quotes:
            assert text[quote.start : quote.end] == quote.text
            (review,) = [
                candidate
                for candidate in reviews
                if candidate.start <= quote.start and quote.end <= candidate.end
            ]
            sentences = split_sentences(text[review.start : review.end])
            assert (quote.start - review.start, quote.end - review.start) in sentences
            assert review.group == pattern.group
            starts.add(review.start)
        assert len(starts) == len(pattern.quotes)


@given(st.lists(REVIEWS, max_size=12))
def test_patterns_are_counted_ranked_and_deterministic(contents):
    text, reviews = document(*contents)
    results = find_patterns(text, reviews, FewWords().mentions)
    assert [pattern.rank for pattern in results] == list(range(1, len(results) + 1))
    assert [-pattern.count for pattern in results] == sorted(-pattern.count for pattern in results)
    for pattern in results:
        assert (
            2
            <= pattern.count
            <= pattern.reviews
            == sum(review.group == pattern.group for review in reviews)
        )
        assert 1 <= len(pattern.quotes) <= min(3, pattern.count)
    assert find_patterns(text, reviews, FewWords().mentions) == results
