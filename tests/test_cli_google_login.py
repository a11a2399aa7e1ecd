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
    """Run the command and open the URL that it prints, as the user would."""
    arguments = ["google-login", tmp_path / "client.json", "--save", tmp_path / "token.json"]
    command = subprocess.Popen(
        line.command(*arguments, "--no-browser"),
        env=line.environ(OAUTHLIB_INSECURE_TRANSPORT="1", PYTHONUNBUFFERED="1"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = iter(command.stdout.readline, "")
        url = next(match[0] for text in lines if (match := re.search(r"http://\S+", text)))
        urllib.request.urlopen(url, timeout=30).read()
        output, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    return command.returncode, output + errors


def test_a_person_signs_in_and_the_token_file_is_private(line, google, tmp_path):
    code, output = sign_in(line, tmp_path)
    save = tmp_path / "token.json"
    assert (code, google.refused) == (0, [])
    assert json.loads(save.read_text())["type"] == "authorized_user"
    assert stat.S_IMODE(save.stat().st_mode) == 0o600
    assert "The token is in" in output
    assert json.loads(save.read_text())["refresh_token"] not in output


def test_declining_consent_is_reported_and_saves_nothing(line, google, tmp_path):
    google.people.consents = False
    code, output = sign_in(line, tmp_path)
    assert code == 1
    assert "Google denied access" in output
    assert "Traceback" not in output
    assert not (tmp_path / "token.json").exists()


def test_a_file_without_a_client_is_rejected(line, tmp_path):
    (tmp_path / "client.json").write_text("{}")
    result = line.run(
        "google-login", tmp_path / "client.json", "--save", tmp_path / "token.json", code=1
    )
    assert 'type "Desktop app"' in result.stderr


def test_an_unwritable_token_path_is_reported_before_the_sign_in(line, google, tmp_path):
    client = tmp_path / "client.json"
    client.write_text(client.read_text(), encoding="utf-8-sig")  # as saved on Windows
    for save, reason in ((tmp_path, "is a folder"), (tmp_path / "no" / "t.json", "is no folder")):
        assert reason in line.run("google-login", client, "--save", save, code=1).stderr
