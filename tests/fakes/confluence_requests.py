"""The fake Confluence through plain requests."""

from datetime import UTC, datetime, timedelta

import requests

from tests.fakes.confluence import API_TOKEN, EMAIL, KIM, PASSWORD


class Clock:
    def __init__(self):
        self.now = datetime(2026, 11, 21, 23, 30, 15, 250_000, tzinfo=UTC)

    def __call__(self):
        self.now += timedelta(minutes=1)
        return self.now


def ask(fake, path, auth=True, **params):
    """The response of the REST API, by default to the test account."""
    if auth is True:
        auth = (EMAIL, API_TOKEN) if fake.cloud else (KIM, PASSWORD)
    return requests.get(f"{fake.url}/rest/api/{path}", params, auth=auth or None, timeout=5)


def search(fake, cql, **params):
    """All result pages of a search, as lists of titles."""
    pages, answer = [], ask(fake, "content/search", cql=cql, **params).json()
    while True:
        pages.append([result["title"] for result in answer["results"]])
        next_link = answer["_links"].get("next")
        if next_link is None:
            return pages
        answer = ask(fake, next_link.removeprefix("/rest/api/")).json()
