"""Sources over the API: added after a test, changed, imported, removed; a secret stays inside."""

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope, Principal
from services.sources.secret_service import new_key
from tests.api.conftest import bearer
from tests.api.working import work_off
from tests.fakes.confluence import API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.permissions import enforced_permissions

API = "/api/v1"
OURS = {"sources", "imports", "documents"}
VARIABLE = "$FOOTNOTE_SECRET_WIKI"


@pytest.fixture
def client(call):
    return call(embed=True)


@pytest.fixture
def folder(tmp_path):
    """A folder that is no source yet."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (folder / "tool.exe").write_bytes(b"MZ")
    return folder


def given(folder, **more):
    return {"kind": "directory", "fields": {"path": str(folder)}, **more}


def created(client, folder, **more):
    answer = client.post(f"{API}/sources", json=given(folder, **more))
    assert answer.status_code == 201, answer.text
    return answer.json()["source"]


def source_of(client, source_id):
    return client.get(f"{API}/sources/{source_id}").json()


def test_the_kinds_say_what_is_filled_in_and_which_of_it_is_secret(client):
    kinds = client.get(f"{API}/source-kinds").json()
    assert kinds["total"] == 5
    fields = {kind["name"]: {one["name"]: one for one in kind["fields"]} for kind in kinds["items"]}
    assert fields["directory"]["path"]["required"]
    assert fields["confluence"]["api_token"]["secret"]
    assert fields["confluence"]["api_token"]["when"] == {"login": ["cloud"]}


def test_what_is_sent_for_a_new_source_is_described_by_kind(client):
    kinds = client.get(f"{API}/source-kinds").json()["items"]
    described = client.get(f"{API}/openapi.json").json()
    schemas = described["components"]["schemas"]
    for operation in ("sources", "sources/test"):
        asked = described["paths"][f"{API}/{operation}"]["post"]["requestBody"]["content"]
        mapping = asked["application/json"]["schema"]["discriminator"]["mapping"]
        assert set(mapping) == {kind["name"] for kind in kinds} - {"upload"}
    for kind in kinds:
        if kind["name"] in mapping:
            new = schemas[mapping[kind["name"]].rpartition("/")[2]]["properties"]["fields"]
            told = schemas[new["$ref"].rpartition("/")[2]]
            assert list(told["properties"]) == [one["name"] for one in kind["fields"]]
            sure = [one["name"] for one in kind["fields"] if one["required"] and not one["when"]]
            assert told.get("required", []) == sure


def test_a_test_tells_what_is_there_and_keeps_nothing(client, folder):
    answer = client.post(f"{API}/sources/test", json=given(folder))
    seen = answer.json()
    assert (seen["documents"], seen["titles"]) == (1, ["lunch.md"])
    assert [one["key"] for one in seen["skipped"]] == ["tool.exe"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_a_test_names_what_may_not_be_looked_at(client, folder, tmp_path):
    private = tmp_path / "private"
    (private / "deeper").mkdir(parents=True)
    (folder / "link.md").symlink_to(private / "deeper" / "secret.md")
    (folder / "shut").mkdir(mode=0)
    private.chmod(0)
    with enforced_permissions():
        answer = client.post(f"{API}/sources/test", json=given(folder))
    private.chmod(0o700)
    assert answer.status_code == 200
    reasons = {one["key"]: one["reason"] for one in answer.json()["skipped"]}
    assert reasons.pop("tool.exe")
    assert reasons == {
        "link.md": "it can't be opened: Permission denied",
        "shut/": "the folder can't be opened: Permission denied",
    }


@pytest.mark.parametrize("path", ["shut/below", "link/below", "x" * 300, "loop", "proc"])
@pytest.mark.parametrize("kind", ["directory", "catalogue"])
def test_a_path_that_may_not_be_looked_at_is_a_conflict_that_names_it(client, folder, path, kind):
    (folder / "shut").mkdir(mode=0)
    (folder / "link").symlink_to("shut")
    (folder / "loop").symlink_to("loop")
    (folder / "proc").symlink_to("/proc/1/root/tmp")
    with enforced_permissions():
        new = {"kind": kind, "fields": {"path": str(folder / path)}}
        answers = [client.post(f"{API}/{one}", json=new) for one in ("sources/test", "sources")]
    for answer in answers:
        assert answer.status_code == 409
        assert str(folder / path)[:200] in answer.json()["detail"]


def test_a_source_is_kept_then_imported(client, folder):
    source = created(client, folder, name="Rules", labels=["policy"], schedule="daily")
    assert (source["name"], source["collection"], source["labels"]) == (
        "Rules",
        "Rules",
        ["policy"],
    )
    assert (source["documents"], source["state"], source["schedule"]) == (0, None, "daily")
    queued = client.post(f"{API}/sources/{source['id']}/import")
    assert queued.status_code == 202
    assert source_of(client, source["id"])["current"]["id"] == queued.json()["id"]
    work_off(client)
    after = source_of(client, source["id"])
    assert (after["documents"], after["state"], after["current"]) == (1, "completed", None)
    assert after["last"]["id"] == queued.json()["id"]
    assert after["next_refresh"] is not None


def test_sources_are_listed_page_by_page(client, folder):
    created(client, folder, name="zz")
    first = client.get(f"{API}/sources", params={"limit": 1}).json()
    second = client.get(f"{API}/sources", params={"limit": 1, "offset": 1}).json()
    assert (first["total"], second["total"]) == (2, 2)
    assert [first["items"][0]["name"], second["items"][0]["name"]] == ["handbook", "zz"]


def test_the_same_source_again_is_a_conflict(client, folder):
    created(client, folder)
    again = client.post(f"{API}/sources", json=given(folder))
    assert again.status_code == 409
    assert "is already a source" in again.json()["detail"]


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"path": "/no/where"}, 409, "/no/where does not exist"),
        ({"path": "handbook"}, 409, "not an absolute path"),
        ({"path": "~nobody-at-all/handbook"}, 409, "not an absolute path"),
        ({}, 422, "fields.path: Field required"),
        ({"path": "\x1f"}, 422, "fields.path"),
        ({"path": ["/"]}, 422, "fields.path: Input should be a valid string"),
        ({"path": "/", "depth": "3"}, 422, "fields.depth: Extra inputs are not permitted"),
    ],
)
def test_what_can_not_be_a_source_is_refused_with_what_to_do(client, fields, status, told):
    new = {"kind": "directory", "fields": fields}
    tested = client.post(f"{API}/sources/test", json=new)
    kept = client.post(f"{API}/sources", json=new)
    assert (tested.status_code, kept.status_code) == (status, status)
    assert told in tested.json()["detail"]
    assert told in kept.json()["detail"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_what_is_left_out_of_a_change_stays(client, folder):
    id_ = created(client, folder, name="Rules", labels=["policy"], schedule="weekly")["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"schedule": "hourly"}).json()
    assert answer["queued"] is None
    kept = answer["source"]
    assert (kept["name"], kept["labels"], kept["schedule"]) == ("Rules", ["policy"], "hourly")
    assert kept["fields"]["path"] == str(folder)


def test_a_change_that_documents_have_to_follow_queues_an_import(client, folder):
    id_ = created(client, folder)["id"]
    change = {"fields": {"exclude": ["*.exe"]}, "collection": "HR"}
    answer = client.patch(f"{API}/sources/{id_}", json=change).json()
    assert answer["queued"]["source_id"] == id_
    assert answer["source"]["fields"]["exclude"] == ["*.exe"]
    assert answer["source"]["collection"] == "HR"


def test_where_a_source_is_can_not_be_changed(client, folder, tmp_path):
    id_ = created(client, folder)["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"fields": {"path": str(tmp_path)}})
    assert answer.status_code == 422
    assert "fields.path: Extra inputs are not permitted" in answer.json()["detail"]


def test_a_source_stays_until_a_worker_removes_it_and_for_good_if_that_is_cancelled(client, folder):
    id_ = created(client, folder)["id"]
    job = client.delete(f"{API}/sources/{id_}").json()["id"]
    assert source_of(client, id_)["current"]["id"] == job
    client.post(f"{API}/imports/{job}/cancel")
    work_off(client)
    assert source_of(client, id_)["current"] is None
    client.delete(f"{API}/sources/{id_}")
    work_off(client)
    assert client.get(f"{API}/sources/{id_}").status_code == 404
    assert client.get(f"{API}/sources/{id_}/removal").status_code == 404


def test_a_field_of_another_kind_is_a_conflict(client, folder):
    id_ = created(client, folder)["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"fields": {"email": "ada@example.com"}})
    assert answer.status_code == 409
    assert "The fields are: include, exclude" in answer.json()["detail"]


def test_a_source_rests_and_goes_on(client, folder):
    id_ = created(client, folder, schedule="hourly")["id"]
    job = client.post(f"{API}/sources/{id_}/import").json()["id"]
    assert client.post(f"{API}/sources/{id_}/pause").json()["paused"]
    assert client.get(f"{API}/imports/{job}").json()["state"] == "paused"
    assert source_of(client, id_)["next_refresh"] is None
    assert not client.post(f"{API}/sources/{id_}/resume").json()["paused"]
    assert client.get(f"{API}/imports/{job}").json()["state"] == "queued"


def test_a_dry_run_tells_what_an_import_would_do_and_changes_nothing(client, folder):
    id_ = created(client, folder)["id"]
    job = client.post(f"{API}/sources/{id_}/dry-run").json()
    assert job["kind"] == "dry run"
    work_off(client)
    details = client.get(f"{API}/imports/{job['id']}").json()
    assert details["counts"] == {"new": 1, "skipped": 1}
    assert details["tokens"] > 0
    assert source_of(client, id_)["documents"] == 0


def test_removals_of_most_of_a_source_wait_until_they_are_confirmed(client, folder):
    for n in range(11):
        (folder / f"{n}.txt").write_text(f"Rule {n}.")
    id_ = created(client, folder)["id"]
    client.post(f"{API}/sources/{id_}/import")
    work_off(client)
    for rule in folder.glob("*.txt"):
        rule.unlink()
    held = client.post(f"{API}/sources/{id_}/import").json()["id"]
    work_off(client)
    details = client.get(f"{API}/imports/{held}").json()
    assert (details["state"], details["held_back"]) == ("needs confirmation", 11)
    confirmed = client.post(f"{API}/sources/{id_}/import", json={"confirm_removals": True}).json()
    assert confirmed["confirm_removals"]
    work_off(client)
    assert source_of(client, id_)["documents"] == 1


def test_a_deleted_source_goes_with_what_was_told_before(client):
    id_ = client.get(f"{API}/sources").json()["items"][0]["id"]
    told = client.get(f"{API}/sources/{id_}/removal").json()
    assert told == {"documents": 4, "passages": 5, "conversations": 0}
    job = client.delete(f"{API}/sources/{id_}")
    assert (job.status_code, job.json()["kind"]) == (202, "removal")
    work_off(client)
    assert client.get(f"{API}/sources/{id_}").status_code == 404
    assert client.get(f"{API}/documents").json()["total"] == 0


def operations(client):
    """Each of ours: its method, its path with ids that are none, its body."""
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method, told in methods.items():
            if OURS & set(told["tags"]):
                yield method, path.replace("{", "").replace("}", ""), told["operationId"]


def test_reading_needs_the_scope_to_read_and_every_change_that_to_manage(client):
    for method, path, name in operations(client):
        other = set(ApiScope) - {ApiScope.READ if method == "get" else ApiScope.MANAGE}
        answer = client.request(method, path, headers=bearer(client.services, *other))
        assert answer.status_code == 403, name


def test_what_is_not_there_is_not_found(client):
    bodies = {"import_source": {"confirm_removals": True}, "change_source": {}}
    asked = [one for one in operations(client) if "_id/" in f"{one[1]}/"]
    assert len(asked) > 20
    for method, path, name in asked:
        files = [("files", ("a.md", b"# A"))] if name == "upload_to_conversation" else None
        answer = client.request(method, path, json=bodies.get(name), files=files)
        assert answer.status_code == 404, name


def test_the_files_of_somebody_elses_conversation_are_not_there(client):
    services, anna = client.services, Principal("anna")
    talk = services.conversations.begin(anna, "Salaries").id
    box = services.uploads.add(anna, [("a.md", b"# A")], conversation_id=talk).source_id
    assert client.get(f"{API}/sources/{box}").status_code == 404
    assert client.get(f"{API}/sources").json()["total"] == 1
    assert client.post(f"{API}/sources/{box}/import").status_code == 404
    own = TestClient(make_app(services), headers=bearer(services, principal=anna))
    assert own.get(f"{API}/sources/{box}").json()["conversation_id"] == talk


@pytest.fixture
def site():
    with FakeConfluence(cloud=True) as site:
        site.add_space("DOC", "Documentation")
        site.add("DOC", "Guide", "<p>Where everything begins.</p>")
        yield site


class Listener:
    """Calls as a client does, and remembers all that came back: bodies, addresses and headers."""

    def __init__(self, client):
        self._client = client
        self.heard = []

    def __call__(self, method, path, **more):
        answer = self._client.request(method, f"{API}{path}", **more)
        self.heard.append(f"{answer.status_code} {answer.headers} {answer.text}")
        return answer


def test_a_secret_goes_in_and_comes_out_of_no_operation(call, site, monkeypatch, caplog):
    client = call(embed=True, encryption_key=new_key())
    ask, wrong = Listener(client), f"{API_TOKEN}-of-yesterday"
    login = {
        "url": site.url,
        "scope": "spaces",
        "spaces": ["DOC"],
        "login": "cloud",
        "email": EMAIL,
    }
    wiki = {"kind": "confluence", "fields": {**login, "api_token": API_TOKEN}}

    test = "/sources/test"

    def told(**more):
        return {**wiki, "fields": {**wiki["fields"], **more}}

    seen = ask("POST", test, json=wiki)
    assert seen.json()["documents"] == 1
    id_ = ask("POST", "/sources", json=wiki).json()["source"]["id"]
    refused = [
        (409, ask("POST", "/sources", json=wiki)),
        (409, ask("POST", "/sources", json=told(api_token=wrong))),
        (422, ask("POST", test, json=told(api_token=[API_TOKEN]))),
        (422, ask("POST", "/sources", json=told(api_token={"token": API_TOKEN}))),
        (422, ask("POST", "/sources", json=told(api_token=API_TOKEN * 2000))),
        (422, ask("POST", "/sources", json=told(attachments=API_TOKEN))),
        (422, ask("POST", "/sources", json=told(login="moon"))),
        (422, ask("POST", "/sources", json={**wiki, "kind": "google_drive"})),
        (422, ask("POST", "/sources", json={**wiki, "fields": API_TOKEN})),
        (409, ask("PATCH", f"/sources/{id_}", json={"fields": {"api_token": wrong}})),
        (409, ask("PATCH", f"/sources/{id_}", json={"fields": {"api_token": VARIABLE}})),
    ]
    assert [answer.status_code for _, answer in refused] == [status for status, _ in refused]
    changes = [{"api_token": API_TOKEN}, {"skip_labels": ["draft"]}, {"api_token": ""}]
    for fields in changes:
        assert ask("PATCH", f"/sources/{id_}", json={"fields": fields}).status_code == 200
    for step in ("dry-run", "import", "pause", "resume"):
        assert ask("POST", f"/sources/{id_}/{step}").status_code < 300
    work_off(client)
    source = ask("GET", f"/sources/{id_}").json()
    assert (source["documents"], source["fields"]["api_token"]) == (1, "")
    monkeypatch.setattr("tests.fakes.confluence.API_TOKEN", "another one")
    ask("POST", f"/sources/{id_}/import")
    work_off(client)
    assert ask("GET", f"/sources/{id_}").json()["state"] == "failed"
    for path in everything_readable(client, id_):
        assert ask("GET", path).status_code == 200, path
    assert ask("DELETE", f"/sources/{id_}").status_code == 202
    work_off(client)
    assert API_TOKEN not in "\n".join(ask.heard) + caplog.text


def everything_readable(client, source_id):
    """The path of each operation that reads, with the ids of this source's things."""
    ids = {"source_id": source_id}
    imports = client.get(f"{API}/sources/{source_id}/imports").json()["items"]
    documents = client.get(f"{API}/documents", params={"sources": source_id}).json()["items"]
    for path, methods in client.get(f"{API}/openapi.json").json()["paths"].items():
        if "get" not in methods or not OURS & set(methods["get"]["tags"]):
            continue
        for one in imports:
            told = path.format(**ids, import_id=one["id"], document_id=documents[0]["id"])
            yield told.removeprefix(API)


def test_a_secret_in_a_variable_is_told_by_the_name_of_that(call, site, monkeypatch):
    monkeypatch.setenv(VARIABLE[1:], API_TOKEN)
    client = call(embed=True, encryption_key=new_key())
    fields = {"url": site.url, "scope": "everything", "email": EMAIL, "api_token": VARIABLE}
    answer = client.post(f"{API}/sources", json={"kind": "confluence", "fields": fields})
    assert answer.status_code == 201
    assert answer.json()["source"]["fields"]["api_token"] == VARIABLE
    assert API_TOKEN not in answer.text
    assert client.services.sources.list(LOCAL_USER)[0].source.name


def test_a_secret_without_any_setting_is_kept(call, site):
    client = call(embed=True)
    answer = client.post(f"{API}/sources", json=confluence(site))
    assert answer.status_code == 201


def test_a_secret_that_can_not_be_encrypted_is_a_conflict_that_names_the_key_file(call, site):
    client = call(embed=True)
    file = client.services.imports.data_dir / "encryption.key"
    file.write_text("damaged")
    answer = client.post(f"{API}/sources", json=confluence(site))
    assert answer.status_code == 409
    assert str(file) in answer.json()["detail"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def confluence(site):
    fields = {"url": site.url, "scope": "everything", "email": EMAIL, "api_token": API_TOKEN}
    return {"kind": "confluence", "fields": fields}
