import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentRef, ImportItem, Outcome
from domain.errors import UnreadableError
from services.imports.import_plan import Plan
from services.imports.import_resumption import Quarantine, remaining

keys = st.sampled_from("abcdefgh")


def item(key, outcome):
    return ImportItem(key, f"/{key}", outcome)


def test_an_import_that_has_just_started_has_everything_remaining():
    plan = Plan([DocumentRef("a", "v", "/a")], [item("b", Outcome.UNCHANGED)])
    rest = remaining(plan, [], {}, 1)
    assert (rest.plan, rest.stale_keys) == (plan, frozenset())


def test_documents_imported_before_the_interruption_keep_their_items():
    plan = Plan(settled=[item("a", Outcome.UNCHANGED), item("b", Outcome.FAILED)])
    rest = remaining(plan, [item("a", Outcome.NEW), item("b", Outcome.FAILED)], {}, 1)
    assert rest.plan.settled == []
    assert rest.stale_keys == frozenset()


def test_documents_changed_again_are_repeated_and_new_ones_stay_new():
    plan = Plan([DocumentRef("a", "w", "/a")], removals=[("id", item("b", Outcome.REMOVED))])
    rest = remaining(plan, [item("a", Outcome.NEW), item("b", Outcome.CHANGED)], {}, 1)
    assert (rest.stale_keys, rest.new_keys) == ({"a", "b"}, {"a"})


@given(
    st.dictionaries(keys, st.sampled_from(Outcome)),
    st.dictionaries(keys, st.sampled_from(["read", "gone", *Outcome])),
)
def test_each_document_ends_with_exactly_one_item(before, fates):
    plan = Plan(
        [DocumentRef(key, "v", key) for key, fate in fates.items() if fate == "read"],
        [item(key, Outcome(fate)) for key, fate in fates.items() if fate not in ("read", "gone")],
        [("id", item(key, Outcome.REMOVED)) for key, fate in fates.items() if fate == "gone"],
    )
    items = [item(key, outcome) for key, outcome in before.items()]
    rest = remaining(plan, items, {}, 1)
    final_keys = [one.key for one in items if one.key not in rest.stale_keys]
    final_keys += [one.key for one in rest.plan.settled] + [ref.key for ref in rest.plan.to_read]
    final_keys += [one.key for _, one in rest.plan.removals]
    assert sorted(final_keys) == sorted(before.keys() | fates.keys())


def ref(key, version="1"):
    return DocumentRef(key, version, f"/{key}")


def test_documents_that_may_have_crashed_are_noted_until_the_last_one():
    noted = []
    quarantine = Quarantine(careful=2, note=noted.append)
    for key in ("a", "b", "c"):
        quarantine.enter(ref(key))
        quarantine.leave()
    quarantine.end()
    assert noted == [("a", "1"), ("b", "1"), None]


def test_what_is_read_before_the_document_of_the_crash_is_noted_too():
    """Other workers may have been reading it, so that it was lost with the crash."""
    refs = [ref(str(number)) for number in range(9)]
    quarantine = Quarantine(careful=2, crashed_at="6")
    quarantine.cover(refs)
    assert quarantine.careful == 8
    unknown = Quarantine(careful=2, crashed_at="gone")
    unknown.cover(refs)
    assert unknown.careful == 2
    unharmed = Quarantine()
    unharmed.cover([ref("")])
    assert not unharmed.careful


def test_the_end_of_an_import_is_noted_if_fewer_documents_remain():
    noted = []
    quarantine = Quarantine(careful=9, note=noted.append)
    quarantine.enter(ref("a"))
    quarantine.leave()
    quarantine.end()
    assert noted == [("a", "1"), None]


def test_quarantined_documents_are_neither_noted_nor_read_until_they_change():
    noted = []
    quarantine = Quarantine(frozenset({("a", "1")}), 2, noted.append)
    with pytest.raises(UnreadableError, match="crashed twice"):
        quarantine.enter(ref("a"))
    quarantine.enter(ref("a", "2"))
    assert noted == [("a", "2")]
