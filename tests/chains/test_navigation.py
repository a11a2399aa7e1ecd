"""Lines of links without content."""

import pytest

from chains.extractive.sentence_scores import is_navigation


@pytest.mark.parametrize(
    "line",
    [
        "[![Build](https://ci.example/b.svg)](https://ci.example) ![License](l.svg)",
        "![The harbour at night](night.jpg)",
        "[Home](/) | [Guides](/guides) | [API](/api)",
        "- [Installation](#installation)",
        "Home > Guides > Setup",
        "홈 › 안내 › 휴가",
    ],
)
def test_badges_menus_and_contents_are_navigation(line):
    assert is_navigation(line)


@pytest.mark.parametrize(
    "line",
    [
        "- [Travel policy](travel.md)",
        "See [the guide](guide.md) and [the form](form.md).",
        "If a > b > c, the pump stops.",
        "The limit is £42.",
        "| Busan | 51821 |",
        "",
    ],
)
def test_sentences_and_a_lone_link_are_not_navigation(line):
    assert not is_navigation(line)
