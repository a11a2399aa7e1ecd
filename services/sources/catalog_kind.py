"""Catalogs of places as a kind of source, each a description with its data files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain import DocumentRef, Principal, Skipped, Wait
from domain.errors import SourceError
from domain.messages import _
from loaders.catalog.catalog_data import ReviewJudge
from loaders.catalog.catalog_description import description_of, read_description
from loaders.catalog.catalog_places import DESCRIPTION, CatalogPlaces
from services.access import Access
from services.imports.import_plan import Loader
from services.sources.server_folders import require_permitted
from services.sources.source_kinds import (
    TITLES,
    Field,
    FieldValues,
    SourceAddition,
    SourcePreview,
    keep_once,
    server_path,
)
from storage.ledger.source_store import CATALOG_KIND, StoredSource, new_source

KIND = CATALOG_KIND


@dataclass(frozen=True)
class CatalogKind:
    """A catalog, identified by its description's path on the machine that runs Footnote.

    Nothing in `data_dir`, the folder of the library, is imported. `judge` judges places by their
    reviews.
    """

    name = KIND
    fields = (Field("path", required=True, fixed=True),)

    access: Access
    data_dir: Path
    judge: type[ReviewJudge]

    def check(self, principal: Principal, values: FieldValues) -> SourcePreview:
        """List all places, with the reasons why some can't be imported."""
        return self._test(self._permitted_path(principal, values))

    def add(self, principal: Principal, values: FieldValues) -> SourceAddition:
        """Save a checked catalog with its name and description."""
        path = self._permitted_path(principal, values)
        description = read_description(path)
        draft = new_source(
            KIND,
            str(path),
            name=description_of(description).name,
            options={DESCRIPTION: description},
        )
        return keep_once(self.access, principal, draft)

    def field_values(self, source: StoredSource) -> FieldValues:
        """The path of the description."""
        return {"path": source.location}

    def edited_options(self, source: StoredSource, values: FieldValues) -> Mapping[str, Any]:  # noqa: ARG002  # it has no options of its own
        """The current content of the description file."""
        path = Path(source.location)
        self._test(path)
        return {DESCRIPTION: read_description(path)}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # a folder has no rate limit
        """A loader that lists the catalog's places and current description."""
        return self._places(Path(source.location))

    def forget(self, source: StoredSource) -> None:
        """Do nothing: the catalog's files stay."""

    def _permitted_path(self, principal: Principal, values: FieldValues) -> Path:
        what = _("The path of the catalog's description")
        path = server_path(values, what, "/home/me/restaurants/catalog.yaml")
        require_permitted(self.access, principal, path)  # before its description is read
        require_permitted(self.access, principal, *self._places(path).files())
        return path

    def _test(self, path: Path) -> SourcePreview:
        places = list(self._places(path).list())
        titles = [place.title for place in places if isinstance(place, DocumentRef)]
        skipped = tuple(place for place in places if isinstance(place, Skipped))
        if not titles:
            raise SourceError(
                _("No place in {path} can be imported. The first error: {reason}").format(
                    path=path, reason=skipped[0].reason
                )
            )
        return SourcePreview(len(titles), tuple(titles[:TITLES]), skipped)

    def _places(self, path: Path) -> CatalogPlaces:
        """The places of a catalog.

        Raises:
            SourceError: Its description is invalid, or a file is in Footnote's data folder.
        """
        places = CatalogPlaces(path, self.judge)
        self._refuse_own(path)
        for file in places.files():
            self._refuse_own(file)
        return places

    def _refuse_own(self, path: Path) -> None:
        if path.resolve().is_relative_to(self.data_dir.resolve()):
            raise SourceError(
                _("{path} is in Footnote's data folder: choose another catalog.").format(path=path)
            )
