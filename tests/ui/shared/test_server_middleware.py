"""The security policy of the pages, tested without a server."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
import streamlit as st

from bootstrap.hosting import is_only_for_this_machine
from settings import load_settings
from ui.shared.safe_html import FOLDER, run_script, script_names, script_text
from ui.shared.server_middleware import page_security_policy, server_middleware

ROOT = Path(__file__).parents[3]


def directives():
    parts = (part.split() for part in page_security_policy().split(";"))
    return {name: sources for name, *sources in parts}


def test_a_page_loads_from_and_connects_to_its_own_server_only():
    allowed_sources = {"'self'", "'none'", "'unsafe-inline'", "data:", "blob:"}
    sources = {source for directive in directives().values() for source in directive}
    assert {source for source in sources if not source.startswith("'sha256-")} <= allowed_sources
    assert directives()["default-src"] == ["'none'"]
    assert directives()["connect-src"] == ["'self'"]
    assert directives()["frame-ancestors"] == ["'none'"]


def test_only_scripts_of_the_server_or_with_a_known_hash_run():
    scripts = directives()["script-src"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"} & set(scripts)
    index = Path(st.__file__).parent / "static" / "index.html"
    inline = re.findall(r"<script>(.*?)</script>", index.read_text(encoding="utf-8"), re.DOTALL)
    assert inline
    for text in [*inline, *map(script_text, script_names())]:
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in scripts


def test_only_one_module_adds_scripts_to_pages():
    option = "unsafe_allow_javascript"
    files = [*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    assert [file.name for file in files if option in file.read_text(encoding="utf-8")] == [
        "safe_html.py"
    ]


@pytest.mark.parametrize("name", script_names())
def test_a_script_cannot_end_its_own_element(name):
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    assert "</script" not in text
    assert "<!--" not in text


def test_a_value_of_a_script_stays_within_its_attribute(monkeypatch):
    html_fragments = []
    monkeypatch.setattr(st, "html", lambda body, **_: html_fragments.append(body))
    run_script("frame", language='"><script>alert(1)</script>')
    assert html_fragments[0].count("<script") == 1
    assert html_fragments[0].endswith(f">{script_text('frame')}</script>")


def test_an_invalid_setting_stops_the_server_and_is_named(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_ALLOWED_HOSTS", "http://docs.example.com")
    with pytest.raises(SystemExit, match="Footnote: FOOTNOTE_ALLOWED_HOSTS"):
        server_middleware()


@pytest.mark.parametrize(
    ("bound", "is_only_here"), [("localhost", True), ("192.168.1.20", False), (None, False)]
)
def test_the_address_of_the_server_decides_whether_the_pages_are_only_for_this_machine(
    monkeypatch, bound, is_only_here
):
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "set again after the test")
    monkeypatch.setattr(st, "get_option", {"server.address": bound}.get)
    server_middleware()
    assert is_only_for_this_machine(load_settings()) is is_only_here
