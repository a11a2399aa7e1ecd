"""Confluence sites as sources: testing, adding with a secret, editing, and importing them."""

import logging

import pytest
from sqlalchemy import text

from domain import LOCAL_USER, ImportState
from domain.errors import ConfigError, SourceError
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
def fields(site):
    def fields(**changes):
        login = {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
        return {"url": site.url, "scope": "spaces", "spaces": ["doc, HR"]} | login | changes

    return fields


def check(services, fields):
    return services.sources.test(LOCAL_USER, "confluence", fields)


def add(services, fields, **settings):
    settings = SourceSettings(**settings)
    return services.sources.add(LOCAL_USER, "confluence", fields, settings).source


def work(services, source):
    job = services.sources.refresh(LOCAL_USER, source.id)
    return services.worker.wait(LOCAL_USER, job.id)


def stored_bytes(services, tmp_path):
    services.parts.database.close()
    return b"".join(one.read_bytes() for one in (tmp_path / "data").glob("footnote.db*"))


def test_a_test_reports_the_account_and_the_documents(services, fields):
    result = check(services, fields())
    assert result.documents == 3
    assert set(result.titles) == {"Guide", "VPN", "Leave"}
    assert result.notes[0].startswith("Signed in as ")
    assert result.notes[1] == "Visible spaces: 2 (DOC, HR)."
    assert result.warnings == ()
    assert services.sources.list(LOCAL_USER) == []


def test_an_invisible_space_is_reported(services, fields):
    [warning] = check(services, fields(spaces="DOC, NONE")).warnings
    assert "space NONE does not exist" in warning
    with pytest.raises(SourceError, match="space NONE does not exist"):
        check(services, fields(spaces="NONE"))


@pytest.mark.parametrize(
    ("login", "secret"),
    [
        ({"login": "token", "access_token": ACCESS_TOKEN}, ACCESS_TOKEN),
        ({"login": "basic", "user": KIM, "password": PASSWORD}, PASSWORD),
    ],
)
def test_a_server_is_imported_with_a_token_or_password_that_stays_secret(
    services, fields, login, secret, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    with FakeConfluence(cloud=False, context="/confluence") as server:
        server.add_space("DOC")
        server.add("DOC", "Guide", "<p>Begin.</p>")
        server_fields = {"url": server.url, "scope": "everything", **login}
        source = add(services, server_fields)
        assert work(services, source).state is ImportState.COMPLETED
        assert services.sources.get(LOCAL_USER, source.id).figures.documents == 1
    assert secret not in repr(source)
    assert secret not in caplog.text
    assert secret.encode() not in stored_bytes(services, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"api_token": "wrong"}, "rejected the credentials"),
        ({"api_token": " "}, "API token is missing"),
        ({"email": ""}, "email address is missing"),
        ({"url": ""}, "address of the site is missing"),
        ({"url": "http://"}, "not the address of a Confluence site"),
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
def test_invalid_settings_are_rejected_and_nothing_is_stored(services, fields, options, message):
    with pytest.raises(SourceError, match=message) as raised:
        add(services, fields(**options))
    assert API_TOKEN not in str(raised.value)
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize(
    ("scope", "suffix", "name"),
    [
        ({"scope": "spaces", "spaces": "HR DOC\nDOC"}, " · DOC, HR", "Documentation, People"),
        ({"scope": "everything"}, "", "127.0.0.1"),
        ({"scope": "labels", "page_labels": "b, a"}, " · #a, #b", "a, b (127.0.0.1)"),
        ({"scope": "cql", "cql": "title = Leave"}, " · title = Leave", "127.0.0.1"),
    ],
)
def test_a_source_has_a_readable_location_and_a_name(services, fields, site, scope, suffix, name):
    site.label(site.guide, "a")
    source = add(services, fields(**scope))
    assert source.location == f"{site.url}{suffix}"
    assert source.name == name


def test_a_page_tree_can_be_given_by_its_address_and_has_the_title_as_name(services, fields, site):
    address = f"{site.url}/spaces/DOC/pages/{site.guide}/Guide"
    source = add(services, fields(scope="trees", trees=address))
    assert (source.name, source.options["trees"]) == ("Guide", [site.guide])
    assert check(services, fields(scope="trees", trees=site.guide)).documents == 2


def test_the_same_spaces_in_other_notation_are_the_same_source(services, fields, site):
    source = add(services, fields())
    with pytest.raises(SameSourceError) as raised:
        add(services, fields(url=f"{site.url}/spaces/HR/overview", spaces="HR\nDOC"))
    assert raised.value.source.id == source.id


def test_only_the_name_of_an_environment_variable_is_stored(
    build_services, fields, monkeypatch, tmp_path
):
    monkeypatch.setenv("FOOTNOTE_SECRET_WIKI", API_TOKEN)
    services = build_services(embed=True)
    source = add(services, fields(api_token=VARIABLE))
    assert source.options["api_token"] == VARIABLE
    assert work(services, source).state is ImportState.COMPLETED
    assert API_TOKEN.encode() not in stored_bytes(services, tmp_path)


def test_a_new_data_folder_needs_no_settings_to_import_a_site(build_services, fields):
    services = build_services(embed=True)
    source = add(services, fields())
    assert (services.parts.settings.data_dir / "encryption.key").exists()
    # A worker is another process, which has services of its own.
    assert work(build_services(embed=True), source).state is ImportState.COMPLETED


def test_without_the_encryption_key_secrets_are_rejected_before_any_request(
    build_services, fields, site
):
    services = build_services(embed=True)
    add(services, fields())
    (services.parts.settings.data_dir / "encryption.key").unlink()
    requests_before = len(site.requests)
    with pytest.raises(ConfigError, match=r"encryption\.key.*FOOTNOTE_ENCRYPTION_KEY"):
        add(services, fields())
    assert len(site.requests) == requests_before


def test_an_empty_secret_field_keeps_the_stored_secret(services, fields):
    source = add(services, fields())
    kind = services.source_kinds.get("confluence")
    before = dict(kind.field_values(source))
    assert before["api_token"] == ""
    assert API_TOKEN not in str(before)
    edited = before | {"skip_labels": "draft, old", "comments": True}
    assert services.sources.edit(LOCAL_USER, source.id, edited, SourceSettings()) is not None
    options = services.sources.get(LOCAL_USER, source.id).source.options
    assert options["skip_labels"] == ["draft", "old"]
    assert options["comments"] is True
    assert work(services, source).state is ImportState.COMPLETED


def test_a_new_secret_is_stored_only_after_passing_the_test(services, fields, site):
    source = add(services, fields())
    before = dict(services.source_kinds.get("confluence").field_values(source))
    with pytest.raises(SourceError, match="rejected the credentials"):
        services.sources.edit(
            LOCAL_USER, source.id, before | {"api_token": "wrong"}, SourceSettings()
        )
    assert work(services, source).state is ImportState.COMPLETED
    with pytest.raises(SourceError, match="access token is missing"):
        services.sources.edit(LOCAL_USER, source.id, before | {"login": "token"}, SourceSettings())


def test_the_location_cannot_be_changed(services, fields):
    source = add(services, fields())
    elsewhere = fields(url="https://elsewhere.example", scope="everything", api_token="")
    assert services.sources.edit(LOCAL_USER, source.id, elsewhere, SourceSettings()) is None
    stored = services.sources.get(LOCAL_USER, source.id).source
    assert (stored.location, stored.options["url"]) == (source.location, source.options["url"])


def test_removing_a_source_deletes_its_secret(services, fields, tmp_path):
    source = add(services, fields())
    job = services.sources.delete(LOCAL_USER, source.id)
    services.worker.wait(LOCAL_USER, job.id)
    with open_database(tmp_path / "data").read() as session:
        assert session.scalar(text("select count(*) from source_secrets")) == 0


def test_a_test_limits_its_waits_for_the_server(services, fields, site, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.5)
    site.faults = Faults(1, share=1.0, kinds=(Fault.TOO_MANY,))
    with pytest.raises(SourceError, match="429.*Try again in"):
        check(services, fields())


def test_a_secret_appears_in_no_message_or_log(services, fields, site, caplog, monkeypatch):
    monkeypatch.setattr(remote_kind, "_MAX_WAIT_S", 0.1)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    with pytest.raises(SourceError) as raised:
        check(services, fields(url="http://127.0.0.1:9/wiki"))
    assert API_TOKEN not in str(raised.value)
    check(services, fields())
    assert API_TOKEN not in caplog.text
