"""Uploads over the API: files into boxes and conversations, imported and taken out again."""

import pytest

from domain import LOCAL_USER
from tests.api.working import work_off

API = "/api/v1"
LUNCH = ("files", ("lunch.md", b"# Lunch\n\nLunch is at noon.\n"))
TOOL = ("files", ("tool.exe", b"MZ"))


@pytest.fixture
def client(call):
    return call(embed=True)


def given(client, *files, path="uploads", **query):
    answer = client.post(f"{API}/{path}", files=list(files), params=query)
    assert answer.status_code == 202, answer.text
    return answer.json()


def box_folder(client, tmp_path, source_id):
    return tmp_path / "data" / client.get(f"{API}/sources/{source_id}").json()["location"]


def test_files_are_put_into_a_box_imported_and_found(client):
    told = given(client, LUNCH, TOOL, box="Canteen")
    assert told["accepted"] == ["lunch.md"]
    assert [one["name"] for one in told["refused"]] == ["tool.exe"]
    assert ".exe" in told["refused"][0]["reason"]
    work_off(client)
    box = client.get(f"{API}/sources/{told['source_id']}").json()
    assert (box["kind"], box["name"], box["documents"]) == ("upload", "Canteen", 1)
    assert box["last"]["id"] == told["queued"]["id"]


def test_a_box_of_a_name_that_is_there_takes_more_files(client):
    first = given(client, LUNCH)
    second = given(client, ("files", ("tea.md", b"# Tea\n\nTea is at four.\n")), box="Uploads")
    assert second["source_id"] == first["source_id"]
    work_off(client)
    documents = client.get(f"{API}/documents", params={"sources": first["source_id"]}).json()
    assert [one["key"] for one in documents["items"]] == ["lunch.md", "tea.md"]


def test_where_no_file_is_taken_nothing_is_made_or_imported(client):
    told = given(client, TOOL, ("files", ("empty.md", b"")))
    assert (told["source_id"], told["queued"], told["accepted"]) == (None, None, [])
    assert [one["reason"] for one in told["refused"]][1] == "the file is empty"
    assert client.get(f"{API}/sources").json()["total"] == 1


def test_a_file_that_is_too_large_is_refused_with_the_limit(call):
    client = call(embed=True, max_file_mb=1)
    told = given(client, LUNCH, ("files", ("long.txt", b"x" * (2**20 + 1))))
    assert told["accepted"] == ["lunch.md"]
    assert "exceeds the limit of 1.0 MiB" in told["refused"][0]["reason"]


def test_files_of_a_conversation_are_its_own(client):
    talk = client.services.conversations.begin(LOCAL_USER, "Lunch").id
    told = given(client, LUNCH, path=f"conversations/{talk}/files")
    work_off(client)
    box = client.get(f"{API}/sources/{told['source_id']}").json()
    assert (box["conversation_id"], box["documents"]) == (talk, 1)
    found = client.get(f"{API}/library").json()["narrowing"]["sources"]
    assert told["source_id"] not in found


def test_a_deleted_upload_goes_with_its_file(client, tmp_path):
    source_id = given(client, LUNCH)["source_id"]
    work_off(client)
    folder = box_folder(client, tmp_path, source_id)
    assert (folder / "lunch.md").exists()
    [document] = client.get(f"{API}/documents", params={"sources": source_id}).json()["items"]
    assert client.delete(f"{API}/documents/{document['id']}").status_code == 202
    assert not (folder / "lunch.md").exists()
    work_off(client)
    assert client.get(f"{API}/documents/{document['id']}").status_code == 404
    assert client.get(f"{API}/left-out").json()["total"] == 0


def test_a_box_goes_with_all_its_files(client, tmp_path):
    source_id = given(client, LUNCH)["source_id"]
    work_off(client)
    folder = box_folder(client, tmp_path, source_id)
    client.delete(f"{API}/sources/{source_id}")
    work_off(client)
    assert not folder.exists()


def test_a_box_that_is_being_removed_takes_no_files(client):
    source_id = given(client, LUNCH)["source_id"]
    client.delete(f"{API}/sources/{source_id}")
    answer = client.post(f"{API}/uploads", files=[LUNCH])
    assert answer.status_code == 409
    assert "is being removed" in answer.json()["detail"]


@pytest.mark.parametrize("query", [{"box": " "}, {"box": " a"}, {"box": "x" * 201}])
def test_a_box_has_a_name(client, query):
    assert client.post(f"{API}/uploads", files=[LUNCH], params=query).status_code == 422


@pytest.mark.parametrize("field", [("box", (None, "Canteen")), ("flies", ("a.md", b"# A"))])
def test_an_upload_has_nothing_but_files(client, field):
    talk = client.services.conversations.begin(LOCAL_USER, "Lunch").id
    for path in ("uploads", f"conversations/{talk}/files"):
        answer = client.post(f"{API}/{path}", files=[LUNCH, field])
        assert answer.status_code == 422
        assert answer.json()["detail"] == f"body.{field[0]}: Extra inputs are not permitted"
    assert client.get(f"{API}/sources").json()["total"] == 1, "nothing was made"


def test_an_upload_has_files(client):
    answer = client.post(f"{API}/uploads", files=[("other", (None, "a"))])
    assert answer.status_code == 422
    assert "files" in answer.json()["detail"]
