"""Sources over the API: test, create, change, import, delete; no secret is returned."""

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope, Principal
from services.sources.secret_service import new_key
from tests.api.conftest import bearer
from tests.api.worker import run_queue
from tests.fakes.confluence import API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.permissions import enforced_permissions

API = "/api/v1"
TAGS = {"sources", "imports", "documents"}
VARIABLE = "$FOOTNOTE_SECRET_WIKI"


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


@pytest.fixture
def folder(tmp_path):
    """A folder that is not a source yet."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "lunch.md").write_text("# Lunch\n\nLunch is at noon.\n")
    (folder / "tool.exe").write_bytes(b"MZ")
    return folder


def new_source(folder, **more):
    return {"kind": "directory", "fields": {"path": str(folder)}, **more}


def create_source(client, folder, **more):
    answer = client.post(f"{API}/sources", json=new_source(folder, **more))
    assert answer.status_code == 201, answer.text
    return answer.json()["source"]


def source_of(client, source_id):
    return client.get(f"{API}/sources/{source_id}").json()


def test_source_kinds_list_their_fields_and_which_are_required_or_secret(client):
    kinds = client.get(f"{API}/source-kinds").json()
    assert kinds["total"] == 5
    fields = {kind["name"]: {one["name"]: one for one in kind["fields"]} for kind in kinds["items"]}
    assert fields["directory"]["path"]["required"]
    assert fields["confluence"]["api_token"]["secret"]
    assert fields["confluence"]["api_token"]["when"] == {"login": ["cloud"]}


def test_the_body_for_a_new_source_is_documented_by_kind(client):
    kinds = client.get(f"{API}/source-kinds").json()["items"]
    description = client.get(f"{API}/openapi.json").json()
    schemas = description["components"]["schemas"]
    for operation in ("sources", "sources/test"):
        content = description["paths"][f"{API}/{operation}"]["post"]["requestBody"]["content"]
        mapping = content["application/json"]["schema"]["discriminator"]["mapping"]
        assert set(mapping) == {kind["name"] for kind in kinds} - {"upload"}
    for kind in kinds:
        if kind["name"] in mapping:
            new = schemas[mapping[kind["name"]].rpartition("/")[2]]["properties"]["fields"]
            schema = schemas[new["$ref"].rpartition("/")[2]]
            assert list(schema["properties"]) == [one["name"] for one in kind["fields"]]
            required = [
                one["name"] for one in kind["fields"] if one["required"] and not one["when"]
            ]
            assert schema.get("required", []) == required


def test_testing_a_source_lists_its_contents_and_stores_nothing(client, folder):
    answer = client.post(f"{API}/sources/test", json=new_source(folder))
    result = answer.json()
    assert (result["documents"], result["titles"]) == (1, ["lunch.md"])
    assert [one["key"] for one in result["skipped"]] == ["tool.exe"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_testing_a_source_names_inaccessible_files_and_folders(client, folder, tmp_path):
    private = tmp_path / "private"
    (private / "deeper").mkdir(parents=True)
    (folder / "link.md").symlink_to(private / "deeper" / "secret.md")
    (folder / "shut").mkdir(mode=0)
    private.chmod(0)
    with enforced_permissions():
        answer = client.post(f"{API}/sources/test", json=new_source(folder))
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
def test_an_inaccessible_path_is_a_conflict_that_names_it(client, folder, path, kind):
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


def test_a_source_is_created_and_then_imported(client, folder):
    source = create_source(client, folder, name="Rules", labels=["policy"], schedule="daily")
    assert (source["name"], source["collection"], source["labels"]) == (
        "Rules",
        "Rules",
        ["policy"],
    )
    assert (source["documents"], source["state"], source["schedule"]) == (0, None, "daily")
    queued = client.post(f"{API}/sources/{source['id']}/import")
    assert queued.status_code == 202
    assert source_of(client, source["id"])["current"]["id"] == queued.json()["id"]
    run_queue(client)
    after = source_of(client, source["id"])
    assert (after["documents"], after["state"], after["current"]) == (1, "completed", None)
    assert after["last"]["id"] == queued.json()["id"]
    assert after["next_refresh"] is not None


def test_sources_are_listed_page_by_page(client, folder):
    create_source(client, folder, name="zz")
    first = client.get(f"{API}/sources", params={"limit": 1}).json()
    second = client.get(f"{API}/sources", params={"limit": 1, "offset": 1}).json()
    assert (first["total"], second["total"]) == (2, 2)
    assert [first["items"][0]["name"], second["items"][0]["name"]] == ["handbook", "zz"]


def test_creating_the_same_source_again_is_a_conflict(client, folder):
    create_source(client, folder)
    again = client.post(f"{API}/sources", json=new_source(folder))
    assert again.status_code == 409
    assert "is already a source" in again.json()["detail"]


@pytest.mark.parametrize(
    ("fields", "status", "detail"),
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
def test_an_invalid_source_is_rejected_with_the_reason(client, fields, status, detail):
    new = {"kind": "directory", "fields": fields}
    tested = client.post(f"{API}/sources/test", json=new)
    created = client.post(f"{API}/sources", json=new)
    assert (tested.status_code, created.status_code) == (status, status)
    assert detail in tested.json()["detail"]
    assert detail in created.json()["detail"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_fields_missing_from_a_change_stay_unchanged(client, folder):
    id_ = create_source(client, folder, name="Rules", labels=["policy"], schedule="weekly")["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"schedule": "hourly"}).json()
    assert answer["queued"] is None
    source = answer["source"]
    assert (source["name"], source["labels"], source["schedule"]) == ("Rules", ["policy"], "hourly")
    assert source["fields"]["path"] == str(folder)


def test_a_change_that_affects_documents_queues_an_import(client, folder):
    id_ = create_source(client, folder)["id"]
    change = {"fields": {"exclude": ["*.exe"]}, "collection": "HR"}
    answer = client.patch(f"{API}/sources/{id_}", json=change).json()
    assert answer["queued"]["source_id"] == id_
    assert answer["source"]["fields"]["exclude"] == ["*.exe"]
    assert answer["source"]["collection"] == "HR"


def test_the_location_of_a_source_cannot_be_changed(client, folder, tmp_path):
    id_ = create_source(client, folder)["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"fields": {"path": str(tmp_path)}})
    assert answer.status_code == 422
    assert "fields.path: Extra inputs are not permitted" in answer.json()["detail"]


def test_a_source_stays_until_a_worker_removes_it_or_if_the_removal_is_canceled(client, folder):
    id_ = create_source(client, folder)["id"]
    import_id = client.delete(f"{API}/sources/{id_}").json()["id"]
    assert source_of(client, id_)["current"]["id"] == import_id
    client.post(f"{API}/imports/{import_id}/cancel")
    run_queue(client)
    assert source_of(client, id_)["current"] is None
    client.delete(f"{API}/sources/{id_}")
    run_queue(client)
    assert client.get(f"{API}/sources/{id_}").status_code == 404
    assert client.get(f"{API}/sources/{id_}/removal").status_code == 404


def test_a_field_of_another_kind_is_a_conflict(client, folder):
    id_ = create_source(client, folder)["id"]
    answer = client.patch(f"{API}/sources/{id_}", json={"fields": {"email": "ada@example.com"}})
    assert answer.status_code == 409
    assert "The fields are: include, exclude" in answer.json()["detail"]


def test_a_source_can_be_paused_and_resumed(client, folder):
    id_ = create_source(client, folder, schedule="hourly")["id"]
    import_id = client.post(f"{API}/sources/{id_}/import").json()["id"]
    assert client.post(f"{API}/sources/{id_}/pause").json()["paused"]
    assert client.get(f"{API}/imports/{import_id}").json()["state"] == "paused"
    assert source_of(client, id_)["next_refresh"] is None
    assert not client.post(f"{API}/sources/{id_}/resume").json()["paused"]
    assert client.get(f"{API}/imports/{import_id}").json()["state"] == "queued"


def test_a_dry_run_reports_what_an_import_would_do_and_changes_nothing(client, folder):
    id_ = create_source(client, folder)["id"]
    dry_run = client.post(f"{API}/sources/{id_}/dry-run").json()
    assert dry_run["kind"] == "dry run"
    run_queue(client)
    details = client.get(f"{API}/imports/{dry_run['id']}").json()
    assert details["counts"] == {"new": 1, "skipped": 1}
    assert details["tokens"] > 0
    assert source_of(client, id_)["documents"] == 0


def test_removing_most_of_a_source_requires_confirmation(client, folder):
    for n in range(11):
        (folder / f"{n}.txt").write_text(f"Rule {n}.")
    id_ = create_source(client, folder)["id"]
    client.post(f"{API}/sources/{id_}/import")
    run_queue(client)
    for rule in folder.glob("*.txt"):
        rule.unlink()
    import_id = client.post(f"{API}/sources/{id_}/import").json()["id"]
    run_queue(client)
    details = client.get(f"{API}/imports/{import_id}").json()
    assert (details["state"], details["held_back"]) == ("needs confirmation", 11)
    confirmed = client.post(f"{API}/sources/{id_}/import", json={"confirm_removals": True}).json()
    assert confirmed["confirm_removals"]
    run_queue(client)
    assert source_of(client, id_)["documents"] == 1


def test_deleting_a_source_removes_what_the_preview_listed(client):
    id_ = client.get(f"{API}/sources").json()["items"][0]["id"]
    preview = client.get(f"{API}/sources/{id_}/removal").json()
    assert preview == {"documents": 4, "passages": 5, "conversations": 0}
    removal = client.delete(f"{API}/sources/{id_}")
    assert (removal.status_code, removal.json()["kind"]) == (202, "removal")
    run_queue(client)
    assert client.get(f"{API}/sources/{id_}").status_code == 404
    assert client.get(f"{API}/documents").json()["total"] == 0


def operations(client):
    """Method, path with unknown IDs, and operation ID of each operation with these tags."""
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            if TAGS & set(operation["tags"]):
                yield method, path.replace("{", "").replace("}", ""), operation["operationId"]


def test_reading_requires_the_scope_read_and_changes_require_manage(client):
    for method, path, name in operations(client):
        other = set(ApiScope) - {ApiScope.READ if method == "get" else ApiScope.MANAGE}
        answer = client.request(method, path, headers=bearer(client.services, *other))
        assert answer.status_code == 403, name


def test_unknown_ids_are_not_found(client):
    bodies = {"import_source": {"confirm_removals": True}, "change_source": {}}
    with_ids = [one for one in operations(client) if "_id/" in f"{one[1]}/"]
    assert len(with_ids) > 20
    for method, path, name in with_ids:
        files = [("files", ("a.md", b"# A"))] if name == "upload_to_conversation" else None
        answer = client.request(method, path, json=bodies.get(name), files=files)
        assert answer.status_code == 404, name


def test_the_files_of_another_users_conversation_are_not_found(client):
    services, anna = client.services, Principal("anna")
    conversation_id = services.conversations.begin(anna, "Salaries").id
    source_id = services.uploads.add(
        anna, [("a.md", b"# A")], conversation_id=conversation_id
    ).source_id
    assert client.get(f"{API}/sources/{source_id}").status_code == 404
    assert client.get(f"{API}/sources").json()["total"] == 1
    assert client.post(f"{API}/sources/{source_id}/import").status_code == 404
    own = TestClient(make_app(services), headers=bearer(services, principal=anna))
    assert own.get(f"{API}/sources/{source_id}").json()["conversation_id"] == conversation_id


@pytest.fixture
def site():
    with FakeConfluence(cloud=True) as site:
        site.add_space("DOC", "Documentation")
        site.add("DOC", "Guide", "<p>Where everything begins.</p>")
        yield site


class Listener:
    """Sends requests and records all responses: statuses, headers, and bodies."""

    def __init__(self, client):
        self._client = client
        self.responses = []

    def __call__(self, method, path, **more):
        answer = self._client.request(method, f"{API}{path}", **more)
        self.responses.append(f"{answer.status_code} {answer.headers} {answer.text}")
        return answer


def test_no_operation_returns_a_secret(build_client, site, monkeypatch, caplog):
    client = build_client(embed=True, encryption_key=new_key())
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

    def with_fields(**more):
        return {**wiki, "fields": {**wiki["fields"], **more}}

    result = ask("POST", test, json=wiki)
    assert result.json()["documents"] == 1
    id_ = ask("POST", "/sources", json=wiki).json()["source"]["id"]
    rejections = [
        (409, ask("POST", "/sources", json=wiki)),
        (409, ask("POST", "/sources", json=with_fields(api_token=wrong))),
        (422, ask("POST", test, json=with_fields(api_token=[API_TOKEN]))),
        (422, ask("POST", "/sources", json=with_fields(api_token={"token": API_TOKEN}))),
        (422, ask("POST", "/sources", json=with_fields(api_token=API_TOKEN * 2000))),
        (422, ask("POST", "/sources", json=with_fields(attachments=API_TOKEN))),
        (422, ask("POST", "/sources", json=with_fields(login="moon"))),
        (422, ask("POST", "/sources", json={**wiki, "kind": "google_drive"})),
        (422, ask("POST", "/sources", json={**wiki, "fields": API_TOKEN})),
        (409, ask("PATCH", f"/sources/{id_}", json={"fields": {"api_token": wrong}})),
        (409, ask("PATCH", f"/sources/{id_}", json={"fields": {"api_token": VARIABLE}})),
    ]
    assert [answer.status_code for _, answer in rejections] == [status for status, _ in rejections]
    changes = [{"api_token": API_TOKEN}, {"skip_labels": ["draft"]}, {"api_token": ""}]
    for fields in changes:
        assert ask("PATCH", f"/sources/{id_}", json={"fields": fields}).status_code == 200
    for step in ("dry-run", "import", "pause", "resume"):
        assert ask("POST", f"/sources/{id_}/{step}").status_code < 300
    run_queue(client)
    source = ask("GET", f"/sources/{id_}").json()
    assert (source["documents"], source["fields"]["api_token"]) == (1, "")
    monkeypatch.setattr("tests.fakes.confluence.API_TOKEN", "another one")
    ask("POST", f"/sources/{id_}/import")
    run_queue(client)
    assert ask("GET", f"/sources/{id_}").json()["state"] == "failed"
    for path in readable_paths(client, id_):
        expected = 409 if path.endswith("/original") else 200  # a page of a site has no file
        assert ask("GET", path).status_code == expected, path
    assert ask("DELETE", f"/sources/{id_}").status_code == 202
    run_queue(client)
    assert API_TOKEN not in "\n".join(ask.responses) + caplog.text


def readable_paths(client, source_id):
    """The path of each read operation, with the IDs of this source, its imports, and a document."""
    ids = {"source_id": source_id}
    imports = client.get(f"{API}/sources/{source_id}/imports").json()["items"]
    documents = client.get(f"{API}/documents", params={"sources": source_id}).json()["items"]
    for path, methods in client.get(f"{API}/openapi.json").json()["paths"].items():
        if "get" not in methods or not TAGS & set(methods["get"]["tags"]):
            continue
        for one in imports:
            full_path = path.format(**ids, import_id=one["id"], document_id=documents[0]["id"])
            yield full_path.removeprefix(API)


def test_a_secret_in_an_environment_variable_is_returned_as_its_name(
    build_client, site, monkeypatch
):
    monkeypatch.setenv(VARIABLE[1:], API_TOKEN)
    client = build_client(embed=True, encryption_key=new_key())
    fields = {"url": site.url, "scope": "everything", "email": EMAIL, "api_token": VARIABLE}
    answer = client.post(f"{API}/sources", json={"kind": "confluence", "fields": fields})
    assert answer.status_code == 201
    assert answer.json()["source"]["fields"]["api_token"] == VARIABLE
    assert API_TOKEN not in answer.text
    assert client.services.sources.list(LOCAL_USER)[0].source.name


def test_a_secret_can_be_stored_without_further_settings(build_client, site):
    client = build_client(embed=True)
    answer = client.post(f"{API}/sources", json=confluence(site))
    assert answer.status_code == 201


def test_a_damaged_encryption_key_is_a_conflict_that_names_the_file(build_client, site):
    client = build_client(embed=True)
    file = client.services.parts.settings.data_dir / "encryption.key"
    file.write_text("damaged")
    answer = client.post(f"{API}/sources", json=confluence(site))
    assert answer.status_code == 409
    assert str(file) in answer.json()["detail"]
    assert client.get(f"{API}/sources").json()["total"] == 1


def confluence(site):
    fields = {"url": site.url, "scope": "everything", "email": EMAIL, "api_token": API_TOKEN}
    return {"kind": "confluence", "fields": fields}


@pytest.mark.parametrize("path", ["sources", "sources/test"])
def test_a_site_at_a_private_address_is_refused_without_a_request(build_client, path):
    client = build_client(embed=True, encryption_key=new_key(), allowed_private_hosts="")
    with FakeConfluence(cloud=True) as site:
        login = {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
        fields = {"url": site.url, "scope": "everything", **login}
        answer = client.post(f"{API}/{path}", json={"kind": "confluence", "fields": fields})
        assert answer.status_code == 409, answer.text
        assert "FOOTNOTE_ALLOWED_PRIVATE_HOSTS" in answer.json()["detail"]
        assert site.requests == []
