"""Uploads over the API: files of boxes and conversations, their import, and their deletion."""

import pytest

from domain import LOCAL_USER
from tests.api.worker import run_queue

API = "/api/v1"
LUNCH = ("files", ("lunch.md", b"# Lunch\n\nLunch is at noon.\n"))
TOOL = ("files", ("tool.exe", b"MZ"))


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


def upload(client, *files, path="uploads", **query):
    answer = client.post(f"{API}/{path}", files=list(files), params=query)
    assert answer.status_code == 202, answer.text
    return answer.json()


def box_folder(client, tmp_path, source_id):
    return tmp_path / "data" / client.get(f"{API}/sources/{source_id}").json()["location"]


def test_files_are_uploaded_into_a_box_and_imported(client):
    result = upload(client, LUNCH, TOOL, box="Canteen")
    assert result["accepted"] == ["lunch.md"]
    assert [one["name"] for one in result["refused"]] == ["tool.exe"]
    assert ".exe" in result["refused"][0]["reason"]
    run_queue(client)
    box = client.get(f"{API}/sources/{result['source_id']}").json()
    assert (box["kind"], box["name"], box["documents"]) == ("upload", "Canteen", 1)
    assert box["last"]["id"] == result["queued"]["id"]


def test_more_files_can_be_uploaded_into_an_existing_box(client):
    first = upload(client, LUNCH)
    second = upload(client, ("files", ("tea.md", b"# Tea\n\nTea is at four.\n")), box="Uploads")
    assert second["source_id"] == first["source_id"]
    run_queue(client)
    documents = client.get(f"{API}/documents", params={"sources": first["source_id"]}).json()
    assert [one["key"] for one in documents["items"]] == ["lunch.md", "tea.md"]


def test_nothing_is_created_or_imported_if_no_file_is_accepted(client):
    result = upload(client, TOOL, ("files", ("empty.md", b"")))
    assert (result["source_id"], result["queued"], result["accepted"]) == (None, None, [])
    assert [one["reason"] for one in result["refused"]][1] == "the file is empty"
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_a_file_that_is_too_large_is_rejected_with_the_limit(build_client):
    client = build_client(embed=True, max_file_mb=1)
    result = upload(client, LUNCH, ("files", ("long.txt", b"x" * (2**20 + 1))))
    assert result["accepted"] == ["lunch.md"]
    assert "exceeds the limit of 1.0 MiB" in result["refused"][0]["reason"]


def test_files_of_a_conversation_belong_to_it_alone(client):
    conversation_id = client.services.conversations.begin(LOCAL_USER, "Lunch").id
    result = upload(client, LUNCH, path=f"conversations/{conversation_id}/files")
    run_queue(client)
    box = client.get(f"{API}/sources/{result['source_id']}").json()
    assert (box["conversation_id"], box["documents"]) == (conversation_id, 1)
    sources = client.get(f"{API}/library").json()["narrowing"]["sources"]
    assert result["source_id"] not in sources


def test_deleting_an_uploaded_document_deletes_its_file(client, tmp_path):
    source_id = upload(client, LUNCH)["source_id"]
    run_queue(client)
    folder = box_folder(client, tmp_path, source_id)
    assert (folder / "lunch.md").exists()
    [document] = client.get(f"{API}/documents", params={"sources": source_id}).json()["items"]
    assert client.delete(f"{API}/documents/{document['id']}").status_code == 202
    assert not (folder / "lunch.md").exists()
    run_queue(client)
    assert client.get(f"{API}/documents/{document['id']}").status_code == 404
    assert client.get(f"{API}/left-out").json()["total"] == 0


def test_deleting_a_box_deletes_its_files(client, tmp_path):
    source_id = upload(client, LUNCH)["source_id"]
    run_queue(client)
    folder = box_folder(client, tmp_path, source_id)
    client.delete(f"{API}/sources/{source_id}")
    run_queue(client)
    assert not folder.exists()


def test_a_box_that_is_being_removed_accepts_no_files(client):
    source_id = upload(client, LUNCH)["source_id"]
    client.delete(f"{API}/sources/{source_id}")
    answer = client.post(f"{API}/uploads", files=[LUNCH])
    assert answer.status_code == 409
    assert "is being removed" in answer.json()["detail"]


@pytest.mark.parametrize("query", [{"box": " "}, {"box": " a"}, {"box": "x" * 201}])
def test_an_invalid_box_name_is_rejected(client, query):
    assert client.post(f"{API}/uploads", files=[LUNCH], params=query).status_code == 422


@pytest.mark.parametrize("field", [("box", (None, "Canteen")), ("flies", ("a.md", b"# A"))])
def test_unknown_fields_in_an_upload_are_rejected(client, field):
    conversation_id = client.services.conversations.begin(LOCAL_USER, "Lunch").id
    for path in ("uploads", f"conversations/{conversation_id}/files"):
        answer = client.post(f"{API}/{path}", files=[LUNCH, field])
        assert answer.status_code == 422
        assert answer.json()["detail"] == f"body.{field[0]}: Extra inputs are not permitted"
    assert client.get(f"{API}/sources").json()["total"] == 1, "nothing was created"


def test_an_upload_without_files_is_rejected(client):
    answer = client.post(f"{API}/uploads", files=[("other", (None, "a"))])
    assert answer.status_code == 422
    assert "files" in answer.json()["detail"]
