import stat

import pytest

from domain.errors import SourceError
from services.sources import google_login as module
from services.sources.google_login import google_login


@pytest.fixture
def client(tmp_path, monkeypatch):
    """The path of a client file; signing in with it returns the token "token of CLIENT"."""
    path = tmp_path / "client.json"
    path.write_text("CLIENT")
    monkeypatch.setattr(module, "authorize", lambda text, port, *, open_browser: f"token of {text}")
    return path


def test_the_token_is_readable_only_by_its_owner(client, tmp_path):
    save = tmp_path / "token.json"
    google_login(client, save)
    assert save.read_text() == "token of CLIENT"
    assert stat.S_IMODE(save.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["client.json", "token.json"]


def test_an_earlier_readable_token_is_replaced_by_a_private_one(client, tmp_path):
    save = tmp_path / "token.json"
    save.write_text("a much longer token than the new one is")
    save.chmod(0o644)
    google_login(client, save)
    assert save.read_text() == "token of CLIENT"
    assert stat.S_IMODE(save.stat().st_mode) == 0o600


def test_invalid_paths_are_rejected_before_signing_in(client, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "authorize", lambda *_, **__: pytest.fail("signed in"))
    with pytest.raises(SourceError, match="There is no folder"):
        google_login(client, tmp_path / "none" / "token.json")
    with pytest.raises(SourceError, match="is a folder"):
        google_login(client, tmp_path)
    with pytest.raises(SourceError, match="client's JSON"):
        google_login(tmp_path / "none.json", tmp_path / "token.json")
    client.write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="client's JSON"):
        google_login(client, tmp_path / "token.json")


def test_an_unwritable_file_is_an_error(client, tmp_path):
    (tmp_path / "token.json.new").mkdir()  # where it is written first
    with pytest.raises(SourceError, match="can't be written"):
        google_login(client, tmp_path / "token.json")
