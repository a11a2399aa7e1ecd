"""Documents over the API: found, read, taken out, taken back, and those that can't be read."""

import pytest

from tests.api.working import work_off

API = "/api/v1"


@pytest.fixture
def client(call):
    return call(embed=True)


def listed(client, **query):
    return client.get(f"{API}/documents", params=query).json()


def keys(client, **query):
    return [one["key"] for one in listed(client, **query)["items"]]


@pytest.fixture
def leave(client):
    """The document about leave."""
    return next(one for one in listed(client)["items"] if one["key"] == "leave.md")


def searched(client, query):
    """The id of the passage that is found first."""
    return client.post(f"{API}/search", json={"query": query}).json()["items"][0]["passage_id"]


def test_the_library_tells_what_it_holds_and_what_a_search_can_be_narrowed_to(client, leave):
    library = client.get(f"{API}/library").json()
    assert (library["documents"], library["passages"]) == (4, 5)
    [source] = library["sources"]
    assert (source["id"], source["documents"]) == (leave["source_id"], 4)
    assert library["formats"] == {"md": 4}
    assert library["narrowing"]["sources"] == {source["id"]: "handbook"}
    assert library["narrowing"]["collections"] == ["handbook"]
    assert library["has_worker"] is False


def test_documents_are_listed_page_by_page_in_the_order_asked_for(client):
    assert keys(client) == ["leave.md", "vpn.md", "休暇.md", "휴가.md"]
    assert keys(client, order="passages", limit=1) == ["leave.md"]
    assert keys(client, limit=2, offset=1) == ["vpn.md", "休暇.md"]
    assert listed(client, limit=1)["total"] == 4


@pytest.mark.parametrize(
    ("query", "found"),
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
def test_documents_are_narrowed_down_as_in_the_library(client, query, found):
    assert keys(client, **query) == found
    assert listed(client, **query)["total"] == len(found)


def test_a_question_that_is_not_known_is_refused(client):
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
    assert passages["items"][0]["passage_id"] == searched(client, "annual leave")
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
def test_a_span_of_a_text_ends_where_the_text_does(client, leave, span, text):
    read = client.get(f"{API}/documents/{leave['id']}/text", params=span).json()
    assert (read["text"], read["end"]) == (text, span["start"] + len(text))


def test_a_document_that_is_deleted_is_left_out_until_it_is_taken_back(client, leave, handbook):
    job = client.delete(f"{API}/documents/{leave['id']}")
    assert (job.status_code, job.json()["keys"]) == (202, ["leave.md"])
    work_off(client)
    assert "leave.md" not in keys(client)
    assert client.get(f"{API}/documents/{leave['id']}").status_code == 404
    assert (handbook / "leave.md").exists()
    named = {"source_id": leave["source_id"], "key": "leave.md"}
    assert client.get(f"{API}/left-out").json() == {"items": [named], "total": 1}
    back = client.post(f"{API}/left-out/take-back", json={"documents": [named]})
    assert (back.status_code, len(back.json()["queued"])) == (202, 1)
    work_off(client)
    assert "leave.md" in keys(client)
    assert client.get(f"{API}/left-out").json()["total"] == 0


def test_a_document_is_read_again_though_it_has_not_changed(client, leave):
    job = client.post(f"{API}/documents/{leave['id']}/import")
    assert job.status_code == 202
    work_off(client)
    [item] = client.get(f"{API}/imports/{job.json()['id']}/items").json()["items"]
    assert (item["key"], item["outcome"]) == ("leave.md", "changed")


@pytest.fixture
def failed(client, leave, handbook):
    """A document that can't be read, by its name."""
    (handbook / "broken.pdf").write_bytes(b"no PDF")
    client.post(f"{API}/sources/{leave['source_id']}/import")
    work_off(client)
    return {"source_id": leave["source_id"], "key": "broken.pdf"}


def test_what_could_not_be_read_is_listed_with_its_reason_until_it_can_be(client, failed, handbook):
    [failure] = client.get(f"{API}/failures").json()["items"]
    assert {name: failure[name] for name in failed} == failed
    assert failure["reason"]
    (handbook / "broken.pdf").unlink()
    again = client.post(f"{API}/failures/retry", json={"documents": [failed]}).json()["queued"]
    assert [job["keys"] for job in again] == [["broken.pdf"]]
    work_off(client)
    assert client.get(f"{API}/failures").json() == {"items": [], "total": 0}


def test_a_failure_that_is_dismissed_is_listed_no_more(client, failed):
    answer = client.post(f"{API}/failures/dismiss", json={"documents": [failed]})
    assert (answer.status_code, answer.content) == (204, b"")
    assert client.get(f"{API}/failures").json()["total"] == 0


@pytest.mark.parametrize("operation", ["failures/retry", "failures/dismiss", "left-out/take-back"])
def test_documents_of_a_source_that_is_not_there_are_not_found(client, operation):
    named = {"documents": [{"source_id": "none", "key": "a.md"}]}
    assert client.post(f"{API}/{operation}", json=named).status_code == 404
    assert client.post(f"{API}/{operation}", json={"documents": []}).status_code == 422
