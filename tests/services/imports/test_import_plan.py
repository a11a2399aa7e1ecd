from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentRef, Outcome, Removed, Skipped
from services.imports.import_plan import TO_CONFIRM, Planner
from storage.ledger.document_store import StoredVersion
from storage.ledger.import_store import Failure

FORMATS = 3
keys = st.sampled_from([f"{folder}{n}" for folder in ("", "a/", "b/") for n in range(8)])
versions = st.sampled_from("vw")


def stored(version, formats=FORMATS, key="k"):
    return StoredVersion(f"id of {key}", version, formats, 1, f"/{key}")


def listed(key, version="v"):
    return DocumentRef(key, version, f"/{key}")


def planner(known, failures, **options):
    return Planner(
        stored=known,
        failures=failures,
        formats_version=FORMATS,
        **{"confirm_removals": False, **options},
    )


def make_plan(listing, known=None, failures=None, *, confirm=False):
    return planner(known or {}, failures or {}, confirm_removals=confirm).plan(listing)


def outcomes(result):
    return {item.key: item.outcome for item in result.settled}


def test_a_document_is_read_if_it_is_new_or_its_version_or_reader_changed():
    listing = [listed("new"), listed("same"), listed("edited", "w"), listed("older reader")]
    known = {
        "same": stored("v"),
        "edited": stored("v"),
        "older reader": stored("v", FORMATS - 1),
    }
    result = make_plan(listing, known)

    assert [ref.key for ref in result.to_read] == ["new", "edited", "older reader"]
    assert outcomes(result) == {"same": Outcome.UNCHANGED}


def test_an_unreadable_version_is_reported_again_without_reading_it_again():
    failures = {"bad": Failure("v", FORMATS, "encrypted")}
    result = make_plan([listed("bad")], {"bad": stored("u")}, failures)

    assert not result.to_read
    assert result.settled[0].outcome is Outcome.FAILED
    assert result.settled[0].reason == "encrypted (the version imported earlier stays in use)"


def test_an_unreadable_document_is_retried_after_it_or_the_reader_changes():
    edited = {"bad": Failure("u", FORMATS, "encrypted")}
    older = {"bad": Failure("v", FORMATS - 1, "encrypted")}
    assert [make_plan([listed("bad")], {}, failures).to_read for failures in (edited, older)] == [
        [listed("bad")],
        [listed("bad")],
    ]


def test_a_failure_is_resolved_when_the_document_is_skipped_without_an_error():
    skipped = Skipped("a.png", "/a.png", "not read", is_error=False)
    result = make_plan([skipped], {}, {"a.png": Failure("", 0, "not read", again=True)})
    assert outcomes(result) == {"a.png": Outcome.SKIPPED}
    assert (result.failures, result.resolved) == ({}, ["a.png"])


def test_a_failure_is_resolved_when_the_document_is_reverted_or_removed():
    failures = {"back": Failure("w", FORMATS, "?"), "gone": Failure("w", FORMATS, "?")}
    result = make_plan([listed("back")], {"back": stored("v")}, failures)
    assert sorted(result.resolved) == ["back", "gone"]


def test_documents_in_an_unlistable_folder_are_retained():
    known = {key: stored("v", key=key) for key in ("a/1", "a/b/2", "ab/3", "4")}
    result = make_plan([Skipped("a/", "/a", "no permission"), listed("4")], known)

    assert outcomes(result) == {
        "4": Outcome.UNCHANGED,
        "a/": Outcome.FAILED,
        "a/1": Outcome.RETAINED,
        "a/b/2": Outcome.RETAINED,
    }
    assert result.removals == [("id of ab/3", result.removals[0][1])]


def test_two_documents_with_the_same_key_are_one_document_and_one_failure():
    result = make_plan([listed("é"), listed("é", "w")])
    assert result.to_read == [listed("é")]
    assert outcomes(result) == {"é": Outcome.FAILED}


def test_the_removal_guard_blocks_removing_over_half_of_more_than_ten_documents():
    def remove(total, missing, *, confirm=False):
        known = {str(n): stored("v", key=str(n)) for n in range(total)}
        result = make_plan([listed(str(n)) for n in range(missing, total)], known, confirm=confirm)
        return len(result.removals), result.withheld

    assert remove(10, 10) == (10, 0)
    assert remove(12, 6) == (6, 0)
    assert remove(12, 7) == (0, 7)
    assert remove(12, 12) == (0, 12)
    assert remove(12, 12, confirm=True) == (12, 0)


def test_keys_limit_the_import_and_force_reading_unchanged_and_failed_documents():
    known = {key: stored("v", key=key) for key in ("same", "other", "gone", "also gone")}
    failures = {key: Failure("v", FORMATS, "encrypted") for key in ("bad", "other bad")}
    listing = [listed(key) for key in ("same", "other", "bad", "other bad", "new")]
    keys = frozenset(["same", "bad", "gone"])
    result = planner(known, failures, keys=keys).plan(listing)
    assert [ref.key for ref in result.to_read] == ["same", "bad"]
    assert [item.key for _, item in result.removals] == ["gone"]
    assert (result.settled, result.resolved) == ([], [])


def test_excluded_documents_are_removed_while_other_removals_await_confirmation():
    known = {f"{n}": stored("v", key=f"{n}") for n in range(20)}
    excluded_keys = frozenset(["0", "1"])
    result = planner(known, {}, excluded=excluded_keys).plan([])
    assert {item.key for _, item in result.removals} == excluded_keys
    assert result.withheld == 18


@given(
    st.dictionaries(keys, versions),
    st.dictionaries(keys, versions),
    st.dictionaries(keys, versions),
    st.sets(keys | st.sampled_from(["a/", "b/"])),
    st.booleans(),
)
def test_every_document_has_exactly_one_outcome(listing, ledger, failing, skipped, confirm):
    skipped = {key for key in skipped if not any(k.startswith(key) for k in listing)}
    entries = [Skipped(key, key, "?") for key in skipped] + [
        listed(key, version) for key, version in listing.items()
    ]
    known = {key: stored(version, key=key) for key, version in ledger.items()}
    failures = {key: Failure(version, FORMATS, "?") for key, version in failing.items()}
    result = make_plan(entries, known, failures, confirm=confirm)

    fates = [ref.key for ref in result.to_read]
    fates += [item.key for item in result.settled] + [item.key for _, item in result.removals]
    assert sorted(fates) == sorted({*listing, *ledger, *skipped})
    assert all(item.key not in listing for _, item in result.removals)
    assert not (result.removals and result.withheld)
    for key in ledger.keys() - listing.keys():
        hidden = any(
            key == name or (name.endswith("/") and key.startswith(name)) for name in skipped
        )
        assert not (hidden and key in {item.key for _, item in result.removals})


def test_even_a_single_uncertain_removal_needs_confirmation():
    versions = {key: stored("v", key=key) for key in ("doubted", "certain", "here")}
    listing = [
        listed("here"),
        Removed("doubted", "its space is hidden", is_certain=False),
        Removed("certain", "in the trash"),
    ]
    result = make_plan(listing, versions)
    assert result.withheld == 1
    [retained] = [item for item in result.settled if item.outcome is Outcome.RETAINED]
    assert (retained.key, retained.reason) == ("doubted", f"its space is hidden; {TO_CONFIRM}")
    assert [(item.key, item.reason) for _, item in result.removals] == [("certain", "in the trash")]
    confirmed = make_plan(listing, versions, confirm=True)
    assert {item.key for _, item in confirmed.removals} == {"doubted", "certain"}
    assert confirmed.withheld == 0
