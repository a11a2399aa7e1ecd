"""Subprocesses of the Confluence benchmark: import, and report the result."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_mib
from tests.fakes.confluence import ACCESS_TOKEN

SECRET = "FOOTNOTE_SECRET_BENCHMARK"
SPACE = "DOC"

Found = dict[str, Any]


def import_site(data_dir: str, url: str, *, mirrors_permissions: bool = False) -> Found:
    """Queue an import of the site and run it; returns its final state and the library's content."""
    services = _services(data_dir)
    source = _source(services, url, mirrors_permissions=mirrors_permissions)
    from domain import LOCAL_USER

    job = services.sources.refresh(LOCAL_USER, source)
    services.worker.run_next()
    ended = services.queue.get(LOCAL_USER, job.id)
    return {
        "state": str(ended.state),
        "message": ended.message,
        "seconds": ended.seconds,
        "embedded": ended.passages_embedded,
        "peak": peak_mib(),
        "documents": _held(data_dir, source),
        "agrees": services.maintenance.check(LOCAL_USER).agrees,
    }


def _held(data_dir: str, source_id: str) -> dict[str, list[Any]]:
    """Version, title, and text of each document."""
    from storage.ledger.database import open_database
    from storage.ledger.document_store import Documents

    documents = Documents(open_database(Path(data_dir)))
    return {
        key: [
            one.details["page_version"],
            documents.get(one.document_id).title,
            documents.text(one.document_id),
        ]
        for key, one in documents.versions(source_id).items()
    }


def _services(data_dir: str) -> Any:
    os.environ[SECRET] = ACCESS_TOKEN
    from bootstrap import build_services
    from services.long_work import CancelableWait
    from settings import load_settings

    setattr(CancelableWait, "wait", _hardly_wait)  # noqa: B010  # the fake's limits are soon over
    settings = load_settings(data_dir=Path(data_dir), allowed_private_hosts="127.0.0.1")
    return build_services(settings)


def _hardly_wait(_self: Any, _seconds: float, _reason: str) -> None:
    return


def _source(services: Any, url: str, *, mirrors_permissions: bool) -> str:
    from domain import LOCAL_USER
    from services.sources.source_service import SourceSettings

    fields = {
        "url": url,
        "login": "token",
        "access_token": f"${SECRET}",
        "scope": "spaces",
        "spaces": [SPACE],
        "deletions": "always",
        "mirror_permissions": mirrors_permissions,
    }
    known: Sequence[Any] = services.sources.list(LOCAL_USER)
    if known:
        return str(known[0].source.id)
    added = services.sources.add(LOCAL_USER, "confluence", fields, SourceSettings())
    return str(added.source.id)
