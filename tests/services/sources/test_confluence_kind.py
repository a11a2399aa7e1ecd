"""Confluence sites as sources: tested, kept with their secret encrypted, changed, imported."""

import logging

import pytest
from sqlalchemy import text

from domain import LOCAL_USER, ImportState
from errors import ConfigError, SourceError
from services.sources import remote_kind
from services.sources.secret_service import new_key
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import SourceSettings
from storage.ledger.database import open_database
from tests.fakes.confluence import ACCESS_TOKEN, API_TOKEN, EMAIL, PASSWORD, FakeConfluence
from tests.fakes.confluence_site import KIM
from tests.fakes.faults import Fault, Faults

VARIABLE = "$FOOTNOTE_SECRET_WIKI"


@pytest.fixture
def site():
    with FakeConfluence(cloud=True) as site:
        site.add_space("DOC", "Documentation")
        site.add_space("HR", "People")
        site.guide = site.add("DOC", "Guide", "<p>Where everything begins.</p>")
        site.add("DOC", "VPN", "<p>Choose the Bristol gateway.</p>", parent=site.guide)
        site.add("HR", "Leave", "<p>25 days a year.</p>")
        yield site
        assert site.refused == []


@pytest.fixture
def services(build_services):
    return build_services(embed=True, encryption_key=new_key())


@pytest.fixture
def given(site):
    def given(**more):
        login = {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
        return {"url": site.url, "scope": "spaces", "spaces": ["doc, HR"]} | login | more

    return given


def check(services, given):
    return services.sources.test(LOCAL_USER, "confluence", given)


def add(services, given, **settings):
    settings = SourceSettings(**settings)
    return services.sources.add(LOCAL_USER, "confluence", given, settings).source


def work(services, source):
    job = services.sources.refresh(LOCAL_USER, source.id)
    return services.worker.wait(LOCAL_USER, job.id)


def everything_stored(services, tmp_path):
    services.parts.database.close()
    return b"".join(one.read_bytes() for one in (tmp_path / "data").glob("footnote.db*"))


def test_a_test_reports_the_account_and_the_documents(services, given):
    seen = check(services, given())
    assert seen.documents == 3
    assert set(seen.titles) == {"Guide", "VPN", "Leave"}
    assert seen.notes[0].startswith("Signed in as ")
    assert seen.notes[1] == "Visible spaces: 2 (DOC, HR)."
    assert seen.warnings == ()
    assert services.sources.list(LOCAL_USER) == []


def test_a_space_that_is_not_seen_is_named(services, given):
    [warning] = check(services, given(spaces="DOC, NONE")).warnings
    assert "space NONE does not exist" in warning
    with pytest.raises(SourceError, match="space NONE does not exist"):
        check(services, given(spaces="NONE"))


@pytest.mark.parametrize(
    ("login", "secret"),
    [
        ({"login": "token", "access_token": ACCESS_TOKEN}, ACCESS_TOKEN),
        ({"login": "basic", "user": KIM, "password": PASSWORD}, PASSWORD),
    ],
)
def test_a_server_is_signed_in_to_with_its_own_credentials(
    services, given, login, secret, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    with FakeConfluence(cloud=False, context="/confluence") as server:
        server.add_space("DOC")
        server.add("DOC", "Guide", "<p>Begin.</p>")
        told = {"url": server.url, "scope": "everything", **login}
        source = add(services, told)
        assert work(services, source).state is ImportState.COMPLETED
        assert services.sources.get(LOCAL_USER, source.id).figures.documents == 1
    assert secret not in repr(source)
    assert secret not in caplog.text
    assert secret.encode() not in everything_stored(services, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"api_token": "wrong"}, "rejected the credentials"),
        ({"api_token": " "}, "API token is missing"),
        ({"email": ""}, "e-mail address is missing"),
        ({"url": ""}, "address of the site is missing"),
        ({"url": "http://"}, "not an address of a Confluence site"),
        ({"spaces": []}, "at least one space"),
        ({"scope": "trees"}, "at least one page"),
        ({"scope": "labels", "page_labels": "none"}, "nothing to import"),
        ({"scope": "labels"}, "at least one label"),
        ({"scope": "cql"}, "query .CQL. is missing"),
        ({"scope": "trees", "trees": "4711"}, "page 4711 does not exist"),
        ({"scope": "moon"}, "moon is not an option of scope"),
        ({"api_token": "$OPENAI_API_KEY"}, "FOOTNOTE_SECRET_"),
        ({"api_token": VARIABLE}, "FOOTNOTE_SECRET_WIKI is not set"),
    ],
)
def test_invalid_settings_are_rejected_and_nothing_is_stored(services, given, options, message):
    with pytest.raises(SourceError, match=message) as caught:
        add(services, given(**options))
    assert API_TOKEN not in str(caught.value)
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize(
    ("scope", "where", "name"),
    [
        ({"scope": "spaces", "spaces": "HR DOC\nDOC"}, " · DOC, HR", "Documentation, People"),
        ({"scope": "everything"}, "", "127.0.0.1"),
        ({"scope": "labels", "page_labels": "b, a"}, " · #a, #b", "a, b (127.0.0.1)"),
        ({"scope": "cql", "cql": "title = Leave"}, " · title = Leave", "127.0.0.1"),
    ],
)
def test_where_it_is_is_readable_and_it_has_a_name(services, given, site, scope, where, name):
    site.label(site.guide, "a")
    source = add(services, given(**scope))
    assert source.location == f"{site.url}{where}"
    assert source.name == name


def test_a_page_tree_is_named_by_its_address_and_called_by_its_title(services, given, site):
    address = f"{site.url}/spaces/DOC/pages/{site.guide}/Guide"
    source = add(services, given(scope="trees", trees=address))
    assert (source.name, source.options["trees"]) == ("Guide", [site.guide])
    assert check(services, given(scope="trees", trees=site.guide)).documents == 2


def test_the_same_place_is_one_source_however_it_is_written(services, given, site):
    source = add(services, given())
    with pytest.raises(SameSourceError) as caught:
        add(services, given(url=f"{site.url}/spaces/HR/overview", spaces="HR\nDOC"))
    assert caught.value.source.id == source.id


def test_a_named_variable_is_kept_by_its_name_alone(build_services, given, monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTNOTE_SECRET_WIKI", API_TOKEN)
    services = build_services(embed=True)
    source = add(services, given(api_token=VARIABLE))
    assert source.options["api_token"] == VARIABLE
    assert work(services, source).state is ImportState.COMPLETED
    assert API_TOKEN.encode() not in everything_stored(services, tmp_path)


def test_in_a_fresh_data_folder_a_site_is_added_and_imported_without_any_setting(
    build_services, given
):
    services = build_services(embed=True)
    source = add(services, given())
    assert (services.imports.data_dir / "encryption.key").exists()
    # A worker is another process, which has services of its own.
    assert work(build_services(embed=True), source).state is ImportState.COMPLETED


def test_with_a_lost_key_a_typed_secret_is_refused_before_anything_is_asked(
    build_services, given, site
):
    services = build_services(embed=True)
    add(services, given())
    (services.imports.data_dir / "encryption.key").unlink()
    asked = len(site.requests)
    with pytest.raises(ConfigError, match=r"encryption\.key.*FOOTNOTE_ENCRYPTION_KEY"):
        add(services, given())
    assert len(site.requests) == asked


def test_a_secret_that_is_left_empty_stays_as_it_is(services, given):
    source = add(services, given())
    kind = services.source_kinds.get("confluence")
    before = dict(kind.field_values(source))
    assert before["api_token"] == ""
    assert API_TOKEN not in str(before)
    changed = before | {"skip_labels": "draft, old", "comments": True}
    assert services.sources.edit(LOCAL_USER, source.id, changed, SourceSettings()) is not None
    options = services.sources.get(LOCAL_USER, source.id).source.options
    assert options["skip_labels"] == ["draft", "old"]
    assert options["comments"] is True
    assert work(services, source).state is ImportState.COMPLETED


def test_another_secret_takes_its_place_once_it_passes_the_test(services, given, site):
    source = add(services, given())
    before = dict(services.source_kinds.get("confluence").field_values(source))
    with pytest.raises(SourceError, match="rejected the credentials"):
        services.sources.edit(
            LOCAL_USER, source.id, before | {"api_token": "wrong"}, SourceSettings()
        )
    assert work(services, source).state is ImportState.COMPLETED
    with pytest.raises(SourceError, match="access token is missing"):
        services.sources.edit(LOCAL_USER, source.id, before | {"login": "token"}, SourceSettings())


def test_the_location_cannot_be_changed(services, given):
    source = add(services, given())
    elsewhere = given(url="https://elsewhere.example", scope="everything", api_token="")
    assert services.sources.edit(LOCAL_USER, source.id, elsewhere, SourceSettings()) is None
    now = services.sources.get(LOCAL_USER, source.id).source
    assert (now.location, now.options["url"]) == (source.location, source.options["url"])


def test_a_removed_source_takes_its_secret_with_it(services, given, tmp_path):
    source = add(services, given())
    job = services.sources.delete(LOCAL_USER, source.id)
    services.worker.wait(LOCAL_USER, job.id)
    with open_database(tmp_path / "data").read() as session:
        assert session.scalar(text("select count(*) from source_secrets")) == 0


def test_a_test_limits_its_waits_for_the_server(services, given, site, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.5)
    site.faults = Faults(1, share=1.0, kinds=(Fault.TOO_MANY,))
    with pytest.raises(SourceError, match="429.*Try again in"):
        check(services, given())


def test_a_secret_is_in_no_message_and_no_log(services, given, site, caplog, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.1)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    with pytest.raises(SourceError) as caught:
        check(services, given(url="http://127.0.0.1:9/wiki"))
    assert API_TOKEN not in str(caught.value)
    check(services, given())
    assert API_TOKEN not in caplog.text
