"""Requests to the fake Google Drive through Google's own client."""

import pytest
from google.oauth2 import service_account
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from tests.fakes.google_drive import READ_ONLY

ALL = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
BY_LOG = {**ALL, "fields": "*"}


def client(fake, scope=READ_ONLY):
    key = service_account.Credentials.from_service_account_info(
        fake.service_account(), scopes=[scope]
    )
    return build(
        "drive",
        "v3",
        credentials=key,
        static_discovery=True,
        cache_discovery=False,
        client_options={"api_endpoint": fake.url},
    )


def names(api, **params):
    results, token = [], None
    while True:
        body = api.files().list(**{**params, "pageToken": token} if token else params).execute()
        results += [file["name"] for file in body["files"]]
        token = body.get("nextPageToken")
        if not token:
            return sorted(results)


def changes(api, token, **params):
    body = api.changes().list(pageToken=token, **{**BY_LOG, **params}).execute()
    return body["changes"], body["newStartPageToken"]


def start(api, **params):
    return (
        api.changes()
        .getStartPageToken(supportsAllDrives=True, **params)
        .execute()["startPageToken"]
    )


def error(request):
    with pytest.raises(HttpError) as caught:
        request.execute()
    return caught.value.status_code, caught.value.error_details[0]["reason"]
