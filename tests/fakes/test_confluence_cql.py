from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.confluence_cql import parse
from tests.fakes.confluence_site import Site
from tests.fakes.loopback import RefusedError

pytestmark = pytest.mark.slow

NOON = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC)
SEOUL = ZoneInfo("Asia/Seoul")


@pytest.fixture
def site():
    """Two spaces, with pages created a minute apart in the order of their names."""
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


def search(site, cql, zone=UTC, now=NOON):
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
def test_a_query_matches_its_conditions(site, cql, titles):
    assert [title.split()[0].strip(":") for title in search(site, cql)] == titles.split()


def test_an_ancestor_query_finds_all_descendants(site):
    a, b = id_of(site, "A"), id_of(site, "B")
    assert search(site, f"ancestor = {a}") == ["B", "C"]
    assert search(site, f"parent = {a}") == ["B"]
    assert search(site, f"id in ({a}, {b}) or ancestor = {b}") == ["A", "B", "C"]
    assert search(site, f"container = {a}") == ["Re: A", "e.pdf"]


def test_dates_are_minutes_in_the_time_zone_of_the_caller(site):
    assert search(site, 'created >= "2026-11-21 12:01" and created < "2026/11/21 12:03"') == [
        "B",
        "C",
    ]
    assert search(site, 'lastmodified <= "2026-11-21 12:00"') == ["A"], "seconds do not count"
    assert search(site, 'lastmodified > "2026-11-21 12:04"') == ["e.pdf"]
    assert search(site, 'created = "2026-11-21 21:02"', SEOUL) == ["C"]
    assert search(site, 'created != "2026-11-21"') == []
    assert search(site, 'created >= "2026-11-21 12:01"', SEOUL) == search(site, "order by id")
    assert search(site, 'lastmodified >= now("-2m")', now=NOON + timedelta(minutes=5)) == [
        "D day",
        "Re: A",
        "e.pdf",
    ]


def test_results_follow_the_requested_order(site):
    assert search(site, "type = page order by created desc") == ["C", "B", "A"]
    assert search(site, "type in (page, blogpost) ORDER BY space desc, title desc") == [
        "D day",
        "C",
        "B",
        "A",
    ]
    site.edit(id_of(site, "A"), "<p>later</p>")
    assert search(site, "type = page order by lastModified") == ["B", "C", "A"]


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
def test_unsupported_queries_are_refused_with_a_reason(cql):
    with pytest.raises(RefusedError, match="Could not parse cql"):
        parse(cql, NOON, UTC)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_quoted_title_can_be_searched(title):
    site = Site(lambda: NOON)
    site.add_space("DOC")
    site.add("DOC", title)
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    assert search(site, f'title = "{quoted}"') == [title]
    assert search(site, f'title != "{quoted}"') == []


@given(st.text(alphabet="space=DOC!<>~(),\" \\'andorti1-", max_size=40))
def test_a_query_is_either_understood_or_refused(cql):
    try:
        parse(cql, NOON, UTC)
    except RefusedError:
        return
    assert any(operator in cql for operator in ("=", "<", ">", "~", "in"))
