"""The services around sources: which there are, what imports of them did, how they go."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.parts import Parts

if TYPE_CHECKING:
    from services.directories import DirectoryService
    from services.directory_kind import DirectoryKind
    from services.dry_run import DryRuns
    from services.import_reports import ImportReports
    from services.imports import ImportService
    from services.queue import ImportQueue
    from services.removal import Removals
    from services.secrets import SourceSecrets
    from services.source_kinds import SourceKinds
    from services.sources import SourceService
    from services.uploads import UploadService

SAMPLES = Path(__file__).parents[1] / "sample_documents"


class SourceServices:
    """Built when first used, as all services are."""

    _parts: Parts

    if TYPE_CHECKING:

        @property
        def imports(self) -> "ImportService":
            """Imports of any source."""

        @property
        def queue(self) -> "ImportQueue":
            """Imports as jobs."""

        @property
        def uploads(self) -> "UploadService":
            """Files that people give, in boxes."""

    @cached_property
    def sources(self) -> "SourceService":
        """The sources, and what a person does with one."""
        from services.sources import SourceService
        from storage.source_traces import SourceTraces
        from storage.sources import Sources

        database = self._parts.database
        return SourceService(
            Sources(database), self.source_kinds, self.queue, SourceTraces(database)
        )

    @cached_property
    def source_kinds(self) -> "SourceKinds":
        """The kinds of sources there are, and their loaders."""
        from catalog.judged_reviews import LEXICON_VERSION, judge_of
        from loaders.catalogue.judge import Judge
        from services.catalogue_kind import CatalogueKind
        from services.confluence_kind import ConfluenceKind
        from services.google_drive_kind import GoogleDriveKind
        from services.source_kinds import SourceKinds
        from services.upload_kind import UploadKind
        from storage.sources import Sources
        from storage.upload_files import UploadFiles

        settings, sources = self._parts.settings, Sources(self._parts.database)
        secrets, max_bytes = self.source_secrets, settings.max_file_mb * 1024 * 1024
        return SourceKinds(
            [
                self._directory_kind,
                ConfluenceKind(sources, secrets, max_bytes),
                GoogleDriveKind(sources, secrets, max_bytes, settings.google_api_url),
                CatalogueKind(sources, settings.data_dir, Judge(LEXICON_VERSION, judge_of)),
                UploadKind(self.uploads, UploadFiles(settings.data_dir), sources),
            ]
        )

    @cached_property
    def source_secrets(self) -> "SourceSecrets":
        """The secrets that sources are read with."""
        from services.secrets import SourceSecrets
        from settings import secret_variable
        from storage.encryption_keys import EncryptionKeys
        from storage.secrets import Secrets

        settings = self._parts.settings
        key = settings.encryption_key.get_secret_value() if settings.encryption_key else ""
        keys = EncryptionKeys(settings.data_dir, key)
        return SourceSecrets(Secrets(self._parts.database, keys), secret_variable)

    @cached_property
    def directories(self) -> "DirectoryService":
        """Imports of folders."""
        from services.directories import DirectoryService
        from storage.sources import Sources

        sources = Sources(self._parts.database)
        return DirectoryService(self.imports, sources, self._directory_kind, SAMPLES)

    @cached_property
    def dry_runs(self) -> "DryRuns":
        """What imports would do."""
        from loaders.formats import FORMATS_VERSION
        from services.dry_run import DryRuns
        from storage.documents import Documents
        from storage.import_items import ImportItems
        from storage.imports import Imports
        from storage.indexes import Indexes

        database, wanted = self._parts.database, self._parts.wanted
        return DryRuns(
            Documents(database),
            Imports(database),
            ImportItems(database),
            Indexes(database),
            wanted,
            FORMATS_VERSION,
        )

    @cached_property
    def removals(self) -> "Removals":
        """Takes whole sources out of the library."""
        from services.removal import Removals
        from storage.documents import Documents
        from storage.indexes import Indexes
        from storage.ledger import Ledger
        from storage.sources import Sources

        database, kinds = self._parts.database, self.source_kinds
        return Removals(
            Sources(database),
            Documents(database),
            Ledger(database),
            Indexes(database),
            self._parts.stores,
            lambda source: kinds.get(source.kind).forget(source),
        )

    @cached_property
    def import_reports(self) -> "ImportReports":
        """What imports did, or would do."""
        from services.import_reports import ImportReports
        from storage.import_items import ImportItems

        settings = self._parts.settings
        return ImportReports(
            self.sources,
            self.queue,
            ImportItems(self._parts.database),
            settings.embedding_price,
            settings.currency,
        )

    @cached_property
    def _directory_kind(self) -> "DirectoryKind":
        from services.directory_kind import DirectoryKind
        from storage.sources import Sources

        settings = self._parts.settings
        max_bytes = settings.max_file_mb * 1024 * 1024
        return DirectoryKind(Sources(self._parts.database), settings.data_dir, max_bytes)
