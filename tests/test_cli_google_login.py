import json
import re
import stat
import subprocess
import urllib.request

import pytest

from tests.fakes.google_drive import FakeDrive


@pytest.fixture
def google(tmp_path):
    with FakeDrive() as fake:
        (tmp_path / "client.json").write_text(json.dumps(fake.people.client_secrets()))
        yield fake


def sign_in(line, tmp_path):
    """Run the command and, as the person does, open the address that it prints."""
    asked = ["google-login", tmp_path / "client.json", "--save", tmp_path / "token.json"]
    command = subprocess.Popen(
        line.command(*asked, "--no-browser"),
        env=line.environ(OAUTHLIB_INSECURE_TRANSPORT="1", PYTHONUNBUFFERED="1"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = iter(command.stdout.readline, "")
        url = next(found[0] for text in lines if (found := re.search(r"http://\S+", text)))
        urllib.request.urlopen(url, timeout=30).read()
        said, wrong = command.communicate(timeout=60)
    finally:
        command.kill()
    return command.returncode, said + wrong


def test_a_person_signs_in_and_their_token_is_kept_for_them_alone(line, google, tmp_path):
    code, said = sign_in(line, tmp_path)
    save = tmp_path / "token.json"
    assert (code, google.refused) == (0, [])
    assert json.loads(save.read_text())["type"] == "authorized_user"
    assert stat.S_IMODE(save.stat().st_mode) == 0o600
    assert "The token is in" in said
    assert json.loads(save.read_text())["refresh_token"] not in said


def test_who_does_not_agree_is_told_and_nothing_is_saved(line, google, tmp_path):
    google.people.consents = False
    code, said = sign_in(line, tmp_path)
    assert code == 1
    assert "Google did not allow it" in said
    assert "Traceback" not in said
    assert not (tmp_path / "token.json").exists()


def test_a_file_that_is_no_client_is_refused(line, tmp_path):
    (tmp_path / "client.json").write_text("{}")
    done = line.run(
        "google-login", tmp_path / "client.json", "--save", tmp_path / "token.json", code=1
    )
    assert 'type "Desktop app"' in done.stderr


def test_a_place_where_nothing_can_be_saved_is_told_before_anybody_signs_in(line, google, tmp_path):
    client = tmp_path / "client.json"
    client.write_text(client.read_text(), encoding="utf-8-sig")  # as Windows saves it
    for save, told in ((tmp_path, "is a folder"), (tmp_path / "no" / "t.json", "is no folder")):
        assert told in line.run("google-login", client, "--save", save, code=1).stderr
