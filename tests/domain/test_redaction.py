import json
from urllib.parse import quote, quote_plus

import pytest

from domain import logs
from domain.logs import hide_secrets, redact, redact_fields
from tests.linear_time import require_linear_time

SECRET = "hunter2-Zq8"


@pytest.fixture(autouse=True)
def _no_known_secrets(monkeypatch):
    monkeypatch.setattr(logs, "_known", ())


@pytest.mark.parametrize(
    "text",
    [
        f"GET https://ann:{SECRET}@wiki.example.org/rest?x=1 failed",
        f"GET https://ann:p@{SECRET}@wiki.example.org/rest failed",
        f"postgresql+psycopg://footnote:{SECRET}@db/ledger",
        f"https://host/file?name=a&token={SECRET}&page=2",
        f"https://host/file?key={SECRET}",
        f"https://host/file?a=1&sig={SECRET}",
        f"https://host/file?X-Amz-Signature={SECRET}",
        f"https://host/file?access_token={SECRET}#end",
        f"Authorization: Bearer {SECRET}",
        f"authorization: Basic {SECRET}==",
        f"{{'Authorization': 'Digest {SECRET}'}}",
        f"Proxy-Authorization: {SECRET}",
        f'Authorization: Digest username="ann", response="{SECRET}"',
        f"Cookie: JSESSIONID={SECRET}; seraph={SECRET}",
        f"Set-Cookie: id={SECRET}; Path=/",
        f'{{"refresh_token": "{SECRET}", "client_secret": "{SECRET}"}}',
        f"OPENAI_API_KEY={SECRET}",
        f"password='{SECRET} and a blank'",
        f"sent with bearer {SECRET}",
        f"fn-{SECRET}{SECRET}",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_are_recognized_by_their_context(text):
    assert SECRET not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "input_tokens=120 output_tokens=33",
        "max_tokens: 4096",
        "https://wiki.example.org/rest/api/content/7?expand=body",
        "the key of the map: see page 3",
        "ann@example.org wrote https://example.org/a",
        "documents=12 key=leave.md",
        "basic training for everyone",
    ],
)
def test_ordinary_text_is_unchanged(text):
    assert redact(text) == text


@pytest.mark.parametrize("form", [str, repr, json.dumps, quote, quote_plus])
def test_a_known_secret_is_recognized_anywhere(form):
    secret = 'pa/ss"wo\\rd'
    hide_secrets([secret])
    assert "rd" not in redact(f"it was {form(secret)}.")


@pytest.mark.parametrize("part", ["a-", "://", "token ", "cookie", "-----BEGIN PRIVATE KEY-----"])
def test_a_long_hostile_text_is_redacted_in_linear_time(part):
    require_linear_time(lambda count: redact(f"/{part * count}"), 20_000)


def test_a_short_value_is_not_redacted():
    hide_secrets(["", "none", "none "])
    assert redact("none of them") == "none of them"


def test_fields_are_redacted_at_every_depth():
    fields = redact_fields(
        {
            "api_key": SECRET,
            "headers": {"Authorization": SECRET, "Accept": "json"},
            "urls": [f"https://host/?token={SECRET}", {"Cookie": SECRET}],
            "error": ValueError(f"password={SECRET}"),
            "ms": 1.5,
            "status": None,
        }
    )
    assert SECRET not in str(fields)
    assert fields["headers"]["Accept"] == "json"
    assert (fields["ms"], fields["status"]) == (1.5, None)
