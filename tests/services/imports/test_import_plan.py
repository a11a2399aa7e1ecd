from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentRef, Outcome, Removed, Skipped
from services.imports.import_plan import TO_CONFIRM, plan
from storage.ledger.document_store import StoredVersion
from storage.ledger.import_store import Failure

FORMATS = 3
keys = st.sampled_from([f"{folder}{n}" for folder in ("", "a/", "b/") for n in range(8)])
versions = st.sampled_from("vw")


def known_as(version, formats=FORMATS, key="k"):
    return StoredVersion(f"id of {key}", version, formats, 1, f"/{key}")


def listed(key, version="v"):
    return DocumentRef(key, version, f"/{key}")


def planned(listing, known=None, failures=None, *, confirm=False):
    return plan(
        listing, known or {}, failures or {}, formats_version=FORMATS, confirm_removals=confirm
    )


def outcomes(result):
    return {item.key: item.outcome for item in result.settled}


def test_a_document_is_read_if_it_is_new_or_its_version_or_reader_changed():
    listing = [listed("new"), listed("same"), listed("edited", "w"), listed("older reader")]
    known = {
        "same": known_as("v"),
        "edited": known_as("v"),
        "older reader": known_as("v", FORMATS - 1),
    }
    result = planned(listing, known)

    assert [ref.key for ref in result.to_read] == ["new", "edited", "older reader"]
    assert outcomes(result) == {"same": Outcome.UNCHANGED}


def test_an_unreadable_version_is_named_again_but_not_read_again():
    failures = {"bad": Failure("v", FORMATS, "encrypted")}
    result = planned([listed("bad")], {"bad": known_as("u")}, failures)

    assert not result.to_read
    assert result.settled[0].outcome is Outcome.FAILED
    assert result.settled[0].reason == "encrypted (the version imported earlier stays in use)"


def test_an_unreadable_document_is_tried_again_once_it_or_the_reader_changes():
    edited = {"bad": Failure("u", FORMATS, "encrypted")}
    older = {"bad": Failure("v", FORMATS - 1, "encrypted")}
    assert [planned([listed("bad")], {}, failures).to_read for failures in (edited, older)] == [
        [listed("bad")],
        [listed("bad")],
    ]


def test_what_counted_as_a_failure_is_forgotten_once_it_is_only_skipped():
    skipped = Skipped("a.png", "/a.png", "not read", is_error=False)
    result = planned([skipped], {}, {"a.png": Failure("", 0, "not read", again=True)})
    assert outcomes(result) == {"a.png": Outcome.SKIPPED}
    assert (result.failures, result.resolved) == ({}, ["a.png"])


def test_a_failure_is_forgotten_when_the_document_is_back_as_it_was_or_gone():
    failures = {"back": Failure("w", FORMATS, "?"), "gone": Failure("w", FORMATS, "?")}
    result = planned([listed("back")], {"back": known_as("v")}, failures)
    assert sorted(result.resolved) == ["back", "gone"]


def test_documents_in_an_unlistable_folder_are_kept():
    known = {key: known_as("v", key=key) for key in ("a/1", "a/b/2", "ab/3", "4")}
    result = planned([Skipped("a/", "/a", "no permission"), listed("4")], known)

    assert outcomes(result) == {
        "4": Outcome.UNCHANGED,
        "a/": Outcome.FAILED,
        "a/1": Outcome.RETAINED,
        "a/b/2": Outcome.RETAINED,
    }
    assert result.removals == [("id of ab/3", result.removals[0][1])]


def test_two_documents_of_one_name_are_one_document_and_one_failure():
    result = planned([listed("é"), listed("é", "w")])
    assert result.to_read == [listed("é")]
    assert outcomes(result) == {"é": Outcome.FAILED}


def test_the_removal_guard_stops_the_removal_of_over_half_of_more_than_ten_documents():
    def remove(total, missing, *, confirm=False):
        known = {str(n): known_as("v", key=str(n)) for n in range(total)}
        result = planned([listed(str(n)) for n in range(missing, total)], known, confirm=confirm)
        return len(result.removals), result.withheld

    assert remove(10, 10) == (10, 0)
    assert remove(12, 6) == (6, 0)
    assert remove(12, 7) == (0, 7)
    assert remove(12, 12) == (0, 12)
    assert remove(12, 12, confirm=True) == (12, 0)


def test_keys_confine_the_work_and_read_what_is_unchanged_or_has_failed():
    known = {key: known_as("v", key=key) for key in ("same", "other", "gone", "also gone")}
    failures = {key: Failure("v", FORMATS, "encrypted") for key in ("bad", "other bad")}
    listing = [listed(key) for key in ("same", "other", "bad", "other bad", "new")]
    result = plan(
        listing,
        known,
        failures,
        formats_version=FORMATS,
        confirm_removals=False,
        keys=["same", "bad", "gone"],
    )
    assert [ref.key for ref in result.to_read] == ["same", "bad"]
    assert [item.key for _, item in result.removals] == ["gone"]
    assert (result.settled, result.resolved) == ([], [])


def test_what_a_person_excluded_goes_even_while_the_rest_waits_for_a_confirmation():
    known = {f"{n}": known_as("v", key=f"{n}") for n in range(20)}
    out = {"0", "1"}
    result = plan([], known, {}, formats_version=FORMATS, confirm_removals=False, excluded=out)
    assert {item.key for _, item in result.removals} == out
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
    known = {key: known_as(version, key=key) for key, version in ledger.items()}
    failures = {key: Failure(version, FORMATS, "?") for key, version in failing.items()}
    result = planned(entries, known, failures, confirm=confirm)

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


def test_what_its_loader_is_not_certain_of_waits_for_a_confirmation_however_little_it_is():
    known = {key: known_as("v", key=key) for key in ("doubted", "certain", "here")}
    listing = [
        listed("here"),
        Removed("doubted", "its space is hidden", is_certain=False),
        Removed("certain", "in the trash"),
    ]
    result = planned(listing, known)
    assert result.withheld == 1
    [kept] = [item for item in result.settled if item.outcome is Outcome.RETAINED]
    assert (kept.key, kept.reason) == ("doubted", f"its space is hidden; {TO_CONFIRM}")
    assert [(item.key, item.reason) for _, item in result.removals] == [("certain", "in the trash")]
    confirmed = planned(listing, known, confirm=True)
    assert {item.key for _, item in confirmed.removals} == {"doubted", "certain"}
    assert confirmed.withheld == 0
