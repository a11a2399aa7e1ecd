"""Catalogues of places as a kind of source: a description, and the data beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain import DocumentRef, Principal, Skipped, Wait
from errors import SourceError
from loaders.catalogue.description import description_of, read_description
from loaders.catalogue.judge import Judge
from loaders.catalogue.places import DESCRIPTION, CataloguePlaces
from services.import_run import Loader
from services.local_paths import from_home, require_there, shown
from services.source_fields import Field, Given, required
from services.source_kinds import TITLES, Added, Seen, keep_once
from storage.sources import Sources, StoredSource, unsaved

KIND = "catalogue"


class CatalogueKind:
    """A catalogue, by the path of its description on the machine that Footnote runs on."""

    name = KIND
    fields = (Field("path", required=True, fixed=True),)

    def __init__(self, sources: Sources, data_dir: Path, judge: Judge) -> None:
        """Take what a catalogue is kept and read with.

        Args:
            sources: Where sources are kept.
            data_dir: The folder of the library, which is never imported.
            judge: Counts what reviews praise and blame.
        """
        self._sources = sources
        self._data_dir = data_dir
        self._judge = judge

    def check(self, principal: Principal, given: Given) -> Seen:  # noqa: ARG002  # every call names who asks
        """All places that there are, and what is wrong with the others."""
        return self._seen(_path(given))

    def add(self, principal: Principal, given: Given) -> Added:  # noqa: ARG002  # every call names who asks
        """Keep a catalogue that was checked, under its own name, with what its description says."""
        path = _path(given)
        told = read_description(path)
        draft = unsaved(
            KIND, str(path), name=description_of(told).name, options={DESCRIPTION: told}
        )
        return keep_once(self._sources, draft)

    def given(self, source: StoredSource) -> Given:
        """Its path."""
        return {"path": source.location}

    def edited(self, source: StoredSource, given: Given) -> Mapping[str, Any]:  # noqa: ARG002  # it has no options of its own
        """What its description says by now."""
        path = Path(source.location)
        self._seen(path)
        return {DESCRIPTION: read_description(path)}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # a folder asks for no patience
        """Its places, and what its description says by then."""
        return self._places(Path(source.location))

    def forget(self, source: StoredSource) -> None:
        """The files stay where they are."""

    def _seen(self, path: Path) -> Seen:
        places = list(self._places(path).list())
        titles = [place.title for place in places if isinstance(place, DocumentRef)]
        skipped = tuple(place for place in places if isinstance(place, Skipped))
        if not titles:
            raise SourceError(f"No place of {path} can be imported. The first: {skipped[0].reason}")
        return Seen(len(titles), tuple(titles[:TITLES]), skipped)

    def _places(self, path: Path) -> CataloguePlaces:
        """The places of a catalogue.

        Raises:
            SourceError: Its description is wrong, or a file of it is Footnote's own.
        """
        places = CataloguePlaces(path, self._judge)
        self._refuse_own(path)
        for file in places.files():
            self._refuse_own(file)
        return places

    def _refuse_own(self, path: Path) -> None:
        if path.resolve().is_relative_to(self._data_dir.resolve()):
            raise SourceError(
                f"{path} belongs to Footnote's data folder: import a catalogue of your own."
            )


def _path(given: Given) -> Path:
    """The description's path, links followed.

    Raises:
        SourceError: There is nothing, it may not be opened, or it can't be told from which folder
            it is meant.
    """
    path = from_home(required(given, "path", "The path of the catalogue's description"))
    if not path.is_absolute():
        raise SourceError(
            f"{shown(path)} is not an absolute path: write it from the top, such as"
            " /home/me/restaurants/catalogue.yaml."
        )
    require_there(path)
    return path.resolve()
