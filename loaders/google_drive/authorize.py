"""Signs a person in through their own browser, once: what comes of it is stored and used later."""

import json
import webbrowser
from typing import Any

from errors import SourceError
from loaders.google_drive.login import SCOPES

PATIENCE = 600
"""Seconds that the person has to agree in the browser."""
_AGAIN = "run `python cli.py google-login` again"
_PROMPT = "Open this address in a browser on this computer, sign in and allow it:\n\n{url}\n"
_DONE = "Footnote may read your Google Drive now. You can close this window."


def authorize(client_json: str, port: int = 0, *, open_browser: bool = True) -> str:
    """Ask a person to let this program read their Drive, and wait until they have.

    Google sends their browser back to a server on this computer alone, which lives as long.

    Args:
        client_json: The JSON of an OAuth client of the type "Desktop app".
        port: On which to wait for the browser; 0 is any that is free.
        open_browser: Open it, besides printing the address.

    Returns:
        The JSON that `DriveLogin.of("oauth", ...)` takes. It is a secret.

    Raises:
        SourceError: The client is not one, or the person did not allow it in time.
    """
    from google_auth_oauthlib.flow import (  # type: ignore[import-untyped]  # slow
        InstalledAppFlow,
        WSGITimeoutError,
    )
    from oauthlib.oauth2.rfc6749.errors import OAuth2Error  # type: ignore[import-untyped]
    from requests.exceptions import RequestException

    flow = InstalledAppFlow.from_client_config(_client(client_json), SCOPES)
    try:
        credentials = flow.run_local_server(
            port=port,
            open_browser=open_browser and _has_browser(),
            authorization_prompt_message=_PROMPT,
            success_message=_DONE,
            timeout_seconds=PATIENCE,
            prompt="consent",  # or Google gives no refresh token to whom it gave one before
        )
    except WSGITimeoutError as error:
        minutes = PATIENCE // 60
        raise SourceError(f"Nobody signed in within {minutes} minutes: {_AGAIN}.") from error
    except (OAuth2Error, Warning) as error:  # Warning: another scope than was asked for
        raise SourceError(
            f"Google did not allow it ({error}): {_AGAIN}, and allow reading Google Drive."
        ) from error
    except (RequestException, OSError) as error:
        raise SourceError(f"The sign-in broke off ({error}): {_AGAIN}.") from error
    if not credentials.refresh_token:
        raise SourceError(f"Google gave no token to keep: {_AGAIN}.")
    return _stored(credentials)


def _client(client_json: str) -> dict[str, Any]:
    try:
        told = json.loads(client_json)
    except (ValueError, RecursionError):  # it holds a secret: no cause, which would quote it
        told = None
    client = told.get("installed") if isinstance(told, dict) else None
    needed = {"client_id", "client_secret", "auth_uri", "token_uri"}
    if not isinstance(client, dict) or not needed <= client.keys():
        raise SourceError(
            'This is not the JSON of an OAuth client of the type "Desktop app": make one in the'
            " Google Cloud console and download its JSON."
        )
    return {"installed": client}


def _has_browser() -> bool:
    try:
        webbrowser.get()
    except webbrowser.Error:  # a server without one: the address is printed
        return False
    return True


def _stored(credentials: Any) -> str:
    """No access token: it would be out of date when it is used."""
    told = {
        "type": "authorized_user",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "refresh_token": credentials.refresh_token,
        "token_uri": credentials.token_uri,
    }
    return json.dumps(told, indent=2)
