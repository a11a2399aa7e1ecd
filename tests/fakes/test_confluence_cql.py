from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.confluence_cql import parse
from tests.fakes.confluence_site import Site
from tests.fakes.loopback import RefusedError

NOON = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC)
SEOUL = ZoneInfo("Asia/Seoul")


@pytest.fixture
def site():
    """Two spaces; made a minute apart, in the order of their names."""
    times = iter(NOON + timedelta(minutes=n) for n in range(100))
    site = Site(lambda: next(times))
    site.add_space("DOC")
    site.add_space("HR")
    a = site.add("DOC", "A", "<p>red apples &amp; pears</p>", labels=("fruit",))
    b = site.add("DOC", "B", "<p>green</p>", a, labels=("fruit", "draft"))
    site.add("DOC", "C", "<p>blue</p>", b, by="lee")
    site.add("HR", "D day", "", type="blogpost")
    site.comment(a, "<p>why red?</p>")
    site.attach(a, "e.pdf", b"%PDF")
    return site


def found(site, cql, zone=UTC, now=NOON):
    query = parse(cql, now, zone)
    return [c.title for c in query.sort([c for c in site.contents.values() if query.keep(c)])]


def id_of(site, title):
    [content] = [c for c in site.contents.values() if c.title == title]
    return content.id


@pytest.mark.parametrize(
    ("cql", "titles"),
    [
        ("order by id", "A B C D Re e.pdf"),
        ('space = "DOC" and type = page', "A B C"),
        ("space=DOC AND type=page", "A B C"),
        ("type in (page, blogpost)", "A B C D"),
        ("type not in (page, blogpost)", "Re e.pdf"),
        ("type = page and label = 'draft'", "B"),
        ("type = page and label != fruit", "C"),
        ("type = page and label in (fruit, x) and label not in (draft)", "A"),
        ("not (type = page or type = blogpost) and not type = comment", "e.pdf"),
        ("type = blogpost or type = page and label = draft", "B D"),
        ("(type = blogpost or type = page) and label = draft", "B"),
        ('title = "a"', "A"),
        ('title ~ "DAY"', "D"),
        ('title !~ "DAY" and type = blogpost', ""),
        ('text ~ "apples pears"', "A"),
        ('text ~ "red"', "A Re"),
        ("creator = lee", "C"),
        ("space = NOPE", ""),
    ],
)
def test_a_query_finds_what_it_says(site, cql, titles):
    assert [title.split()[0].strip(":") for title in found(site, cql)] == titles.split()


def test_a_tree_is_all_that_is_under_a_page(site):
    a, b = id_of(site, "A"), id_of(site, "B")
    assert found(site, f"ancestor = {a}") == ["B", "C"]
    assert found(site, f"parent = {a}") == ["B"]
    assert found(site, f"id in ({a}, {b}) or ancestor = {b}") == ["A", "B", "C"]
    assert found(site, f"container = {a}") == ["Re: A", "e.pdf"]


def test_dates_are_minutes_of_the_clock_of_whoever_asks(site):
    assert found(site, 'created >= "2026-11-21 12:01" and created < "2026/11/21 12:03"') == [
        "B",
        "C",
    ]
    assert found(site, 'lastmodified <= "2026-11-21 12:00"') == ["A"], "seconds do not count"
    assert found(site, 'lastmodified > "2026-11-21 12:04"') == ["e.pdf"]
    assert found(site, 'created = "2026-11-21 21:02"', SEOUL) == ["C"]
    assert found(site, 'created != "2026-11-21"') == []
    assert found(site, 'created >= "2026-11-21 12:01"', SEOUL) == found(site, "order by id")
    assert found(site, 'lastmodified >= now("-2m")', now=NOON + timedelta(minutes=5)) == [
        "D day",
        "Re: A",
        "e.pdf",
    ]


def test_results_come_in_the_order_asked_for(site):
    assert found(site, "type = page order by created desc") == ["C", "B", "A"]
    assert found(site, "type in (page, blogpost) ORDER BY space desc, title desc") == [
        "D day",
        "C",
        "B",
        "A",
    ]
    site.edit(id_of(site, "A"), "<p>later</p>")
    assert found(site, "type = page order by lastModified") == ["B", "C", "A"]


@pytest.mark.parametrize(
    "cql",
    [
        "status = current",
        "space",
        "space =",
        "space ~ DOC",
        "space > DOC",
        "type = folder",
        "type = page and",
        "type = page page",
        "(type = page",
        "type in page",
        "type in (page",
        'type = "page',
        "text = red",
        "title = two words",
        "space = ~kim",
        "label = a+b",
        "label = and",
        "ancestor = Handbook",
        "lastmodified >= yesterday",
        'lastmodified >= "2026-13-01"',
        'lastmodified >= "2026-11-21T12:00"',
        "type = page order lastmodified",
        "type = page order by author",
        "lastmodified in (now())",
    ],
)
def test_what_the_language_does_not_know_is_refused_with_its_reason(cql):
    with pytest.raises(RefusedError, match="Could not parse cql"):
        parse(cql, NOON, UTC)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_title_can_be_asked_for_when_it_is_quoted(title):
    site = Site(lambda: NOON)
    site.add_space("DOC")
    site.add("DOC", title)
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    assert found(site, f'title = "{quoted}"') == [title]
    assert found(site, f'title != "{quoted}"') == []


@given(st.text(alphabet="space=DOC!<>~(),\" \\'andorti1-", max_size=40))
def test_a_query_is_either_understood_or_refused(cql):
    try:
        parse(cql, NOON, UTC)
    except RefusedError:
        return
    assert any(operator in cql for operator in ("=", "<", ">", "~", "in"))
