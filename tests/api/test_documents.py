"""Documents over the API: list, read, delete, restore, and failures."""

import pytest

from tests.api.worker import run_queue

API = "/api/v1"


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


def list_documents(client, **query):
    return client.get(f"{API}/documents", params=query).json()


def keys(client, **query):
    return [one["key"] for one in list_documents(client, **query)["items"]]


@pytest.fixture
def leave(client):
    """The document about leave."""
    return next(one for one in list_documents(client)["items"] if one["key"] == "leave.md")


def best_passage_id(client, query):
    """The ID of the best passage."""
    return client.post(f"{API}/search", json={"query": query}).json()["items"][0]["passage_id"]


def test_the_library_lists_its_contents_and_the_values_for_narrowing_a_search(client, leave):
    library = client.get(f"{API}/library").json()
    assert (library["documents"], library["passages"]) == (4, 5)
    [source] = library["sources"]
    assert (source["id"], source["documents"]) == (leave["source_id"], 4)
    assert library["formats"] == {"md": 4}
    assert library["narrowing"]["sources"] == {source["id"]: "handbook"}
    assert library["narrowing"]["collections"] == ["handbook"]
    assert library["has_worker"] is False


def test_documents_are_listed_page_by_page_in_the_requested_order(client):
    assert keys(client) == ["leave.md", "vpn.md", "休暇.md", "휴가.md"]
    assert keys(client, order="passages", limit=1) == ["leave.md"]
    assert keys(client, limit=2, offset=1) == ["vpn.md", "休暇.md"]
    assert list_documents(client, limit=1)["total"] == 4


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"words": "VPN"}, ["vpn.md"]),
        ({"words": "leave policy"}, ["leave.md"]),
        ({"scripts": ["korean", "japanese"]}, ["休暇.md", "휴가.md"]),
        ({"formats": "pdf"}, []),
        ({"collections": ["handbook", "none"], "words": "vpn"}, ["vpn.md"]),
        ({"sources": "none"}, []),
        ({"warned": True}, []),
    ],
)
def test_documents_can_be_filtered(client, query, expected):
    assert keys(client, **query) == expected
    assert list_documents(client, **query)["total"] == len(expected)


def test_an_unknown_query_parameter_is_rejected(client):
    answer = client.get(f"{API}/documents", params={"colour": "red"})
    assert answer.status_code == 422
    assert "colour" in answer.json()["detail"]


def test_a_document_is_read_with_its_text_and_passages(client, leave):
    path = f"{API}/documents/{leave['id']}"
    assert client.get(path).json() == leave
    whole = client.get(f"{path}/text").json()
    assert whole["text"].startswith("# Leave policy")
    assert (whole["start"], whole["end"], whole["characters"]) == (0, 164, 164)
    passages = client.get(f"{path}/passages").json()
    assert passages["total"] == leave["passages"] == len(passages["items"])
    for one in passages["items"]:
        assert whole["text"][one["start"] : one["end"]] == one["text"]
    assert passages["items"][0]["passage_id"] == best_passage_id(client, "annual leave")
    assert passages["items"][1]["heading_path"] == ["Leave policy", "Sick leave"]
    second = client.get(f"{path}/passages", params={"limit": 1, "offset": 1}).json()["items"]
    assert second == passages["items"][1:]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ({"start": 2, "end": 14}, "Leave policy"),
        ({"start": 9000}, ""),
        ({"start": 9, "end": 3}, ""),
        ({"start": 2**31}, ""),
    ],
)
def test_a_span_ends_at_the_end_of_the_text(client, leave, span, text):
    response = client.get(f"{API}/documents/{leave['id']}/text", params=span).json()
    assert (response["text"], response["end"]) == (text, span["start"] + len(text))


def test_the_original_file_is_downloaded_and_never_shown_by_a_browser(client, leave, handbook):
    path = f"{API}/documents/{leave['id']}/original"
    response = client.get(path)
    assert response.content == (handbook / "leave.md").read_bytes()
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["content-disposition"] == 'attachment; filename="leave.md"'
    assert response.headers["x-content-type-options"] == "nosniff"
    (handbook / "leave.md").unlink()
    gone = client.get(path)
    assert (gone.status_code, "no longer exists" in gone.json()["detail"]) == (409, True)
    assert client.get(f"{API}/documents/{'0' * 32}/original").status_code == 404


def test_a_deleted_document_is_excluded_until_it_is_restored(client, leave, handbook):
    removal = client.delete(f"{API}/documents/{leave['id']}")
    assert (removal.status_code, removal.json()["keys"]) == (202, ["leave.md"])
    run_queue(client)
    assert "leave.md" not in keys(client)
    assert client.get(f"{API}/documents/{leave['id']}").status_code == 404
    assert (handbook / "leave.md").exists()
    excluded = {"source_id": leave["source_id"], "key": "leave.md"}
    assert client.get(f"{API}/left-out").json() == {"items": [excluded], "total": 1}
    restored = client.post(f"{API}/left-out/take-back", json={"documents": [excluded]})
    assert (restored.status_code, len(restored.json()["queued"])) == (202, 1)
    run_queue(client)
    assert "leave.md" in keys(client)
    assert client.get(f"{API}/left-out").json()["total"] == 0


def test_an_unchanged_document_can_be_imported_again(client, leave):
    queued = client.post(f"{API}/documents/{leave['id']}/import")
    assert queued.status_code == 202
    run_queue(client)
    [item] = client.get(f"{API}/imports/{queued.json()['id']}/items").json()["items"]
    assert (item["key"], item["outcome"]) == ("leave.md", "changed")


@pytest.fixture
def broken_document(client, leave, handbook):
    """The source and key of a document that can't be read."""
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    client.post(f"{API}/sources/{leave['source_id']}/import")
    run_queue(client)
    return {"source_id": leave["source_id"], "key": "broken.pdf"}


def test_a_failure_is_listed_with_its_reason_until_a_retry_resolves_it(
    client, broken_document, handbook
):
    [failure] = client.get(f"{API}/failures").json()["items"]
    assert {name: failure[name] for name in broken_document} == broken_document
    assert failure["reason"]
    (handbook / "broken.pdf").unlink()
    again = client.post(f"{API}/failures/retry", json={"documents": [broken_document]}).json()[
        "queued"
    ]
    assert [job["keys"] for job in again] == [["broken.pdf"]]
    run_queue(client)
    assert client.get(f"{API}/failures").json() == {"items": [], "total": 0}


def test_a_dismissed_failure_is_no_longer_listed(client, broken_document):
    answer = client.post(f"{API}/failures/dismiss", json={"documents": [broken_document]})
    assert (answer.status_code, answer.content) == (204, b"")
    assert client.get(f"{API}/failures").json()["total"] == 0


@pytest.mark.parametrize("operation", ["failures/retry", "failures/dismiss", "left-out/take-back"])
def test_documents_of_an_unknown_source_are_not_found(client, operation):
    body = {"documents": [{"source_id": "none", "key": "a.md"}]}
    assert client.post(f"{API}/{operation}", json=body).status_code == 404
    assert client.post(f"{API}/{operation}", json={"documents": []}).status_code == 422
