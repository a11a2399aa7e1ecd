"""Upload boxes as a kind of source."""

from collections.abc import Mapping
from typing import Any

from domain import Principal, Skipped, Wait
from errors import SourceError
from services.import_run import Loader
from services.source_fields import Field, FieldType, Given, required
from services.source_kinds import TITLES, Added, Seen
from services.uploads import DEFAULT_BOX, KIND, Upload, UploadService
from storage.sources import Sources, StoredSource
from storage.upload_files import UploadFiles


class UploadKind:
    """Files that a person gives to a box by its name; those given again replace the older ones."""

    name = KIND
    fields = (
        Field("box", required=True, fixed=True, default=DEFAULT_BOX),
        Field("files", FieldType.FILES, required=True, fixed=True),
    )

    def __init__(self, uploads: UploadService, files: UploadFiles, sources: Sources) -> None:
        """Args: `uploads` takes files into boxes, `files` are the boxes, `sources` lists them."""
        self._uploads = uploads
        self._files = files
        self._sources = sources

    def check(self, principal: Principal, given: Given) -> Seen:  # noqa: ARG002  # every call names who asks
        """The files that were given."""
        names = tuple(upload.name for upload in _uploads(given))
        return Seen(len(names), names[:TITLES])

    def add(self, principal: Principal, given: Given) -> Added:
        """Put the files into the box, which is made where there is none of that name."""
        box = required(given, "box", "The name of the box")
        done = self._uploads.add(principal, _uploads(given), box=box)
        refused = tuple(Skipped(name, name, reason) for name, reason in done.refused)
        if done.source_id is None:
            first = refused[0]
            raise SourceError(f"None of the files can be used. {first.key}: {first.reason}.")
        return Added(self._sources.get(done.source_id), refused)

    def given(self, source: StoredSource) -> Given:
        """The box's name."""
        return {"box": source.name}

    def edited(self, source: StoredSource, given: Given) -> Mapping[str, Any]:  # noqa: ARG002  # a box has no options of its own
        """Nothing but its name, which every source has."""
        return {}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # files that are here ask for no patience
        """The files in the box."""
        return self._uploads.loader(source)

    def forget(self, source: StoredSource) -> None:
        """Delete the box's folder with the files in it."""
        self._files.remove_box(source.location)


def _uploads(given: Given) -> list[Upload]:
    files = [Upload(*file) for file in given.get("files") or ()]
    if not files:
        raise SourceError("There is no file: choose one or more.")
    return files
