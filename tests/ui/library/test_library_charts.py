from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from domain import ImportDay
from ui.library.library_charts import (
    MOST_SOURCES,
    bars,
    columns,
    import_chart,
    most_of,
    passage_groups,
)


def test_groups_are_named_by_the_passages_they_hold():
    groups = passage_groups({0: 1, 1: 0, 2: 4, 5: 3, None: 2})
    assert groups == {"0": 1, "1": 0, "2": 4, "3–5": 3, "> 5": 2}


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 99), max_size=30))
def test_no_document_is_lost_among_the_other_sources(sources):
    kept = most_of(sources)
    assert sum(kept.values()) == sum(sources.values())
    assert len(kept) <= MOST_SOURCES + 1


def test_the_charts_hold_what_they_are_given():
    days = [ImportDay(date(2026, 11, 20), {"new": 3, "gone": 1})]
    rows = import_chart(days).to_dict()["data"]["values"]
    assert rows == [
        {"day": "2026-11-20", "change": "new", "documents": 3},
        {"day": "2026-11-20", "change": "gone", "documents": 1},
    ]
    for chart in (bars({"Korean": 2}), columns({"Korean": 2})):
        assert chart.to_dict()["data"]["values"] == [{"name": "Korean", "documents": 2}]
