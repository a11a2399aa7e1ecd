from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from domain import ImportDay
from services.library.document_service import LibrarySource
from ui.library.library_charts import (
    MOST_SOURCES,
    bars,
    columns,
    documents_by_name,
    import_chart,
    most_of,
    passage_groups,
)


def test_groups_are_named_by_their_numbers_of_passages():
    groups = passage_groups({0: 1, 1: 0, 2: 4, 5: 3, None: 2})
    assert groups == {"0": 1, "1": 0, "2": 4, "3–5": 3, "> 5": 2}


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 99), max_size=30))
def test_grouping_the_smaller_sources_loses_no_document(sources):
    groups = most_of(sources)
    assert sum(groups.values()) == sum(sources.values())
    assert len(groups) <= MOST_SOURCES + 1


def test_sources_of_the_same_name_share_a_bar():
    sources = [LibrarySource(str(n), "Wiki", "directory", "", n) for n in (2, 3)]
    assert documents_by_name(sources) == {"Wiki": 5}


def test_a_source_named_like_the_group_of_smaller_sources_keeps_its_documents():
    sources = {"1 other source": 9} | {f"source {n}": 5 for n in range(MOST_SOURCES)}
    assert sum(most_of(sources).values()) == sum(sources.values())


def test_the_charts_contain_their_data():
    days = [ImportDay(date(2026, 11, 20), {"new": 3, "gone": 1})]
    rows = import_chart(days).to_dict()["data"]["values"]
    assert rows == [
        {"day": "2026-11-20", "change": "new", "documents": 3},
        {"day": "2026-11-20", "change": "removed", "documents": 1},
    ]
    for chart in (bars({"Korean": 2}), columns({"Korean": 2})):
        assert chart.to_dict()["data"]["values"] == [{"name": "Korean", "documents": 2}]
