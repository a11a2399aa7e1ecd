"""The services for sources and imports, each built on first use."""

from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.parts import Parts
from bootstrap.stored_settings import SettingValues, location_of, settings_stamp, settings_store
from domain.setting_values import secret_text
from domain.web.address_guard import AddressGuard, AllowedHosts
from loaders.formats import FORMATS_VERSION
from services.access import Access
from services.audit_service import AuditService
from services.chat.conversation_service import ConversationService
from services.export.imported_evidence import ImportedEvidence
from services.housekeeping import Housekeeping
from services.imports.import_queue import ImportQueue
from services.imports.maintenance import MaintenanceService
from services.sources.upload_limits import UploadLimits
from services.sources.upload_service import UploadKind, UploadService
from settings import Settings
from storage.ledger.audit_store import AuditLog
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.document_store import Documents
from storage.ledger.import_store import Imports
from storage.ledger.index_store import Indexes
from storage.ledger.restriction_store import Restrictions
from storage.ledger.secret_store import Secrets
from storage.ledger.source_store import Sources, SourceTraces
from storage.ledger.usage_store import RecentQuestions, Uploads
from storage.upload_files import UploadFiles

# Services that not every process uses are imported where they are built.
if TYPE_CHECKING:
    from services.backups.backup_service import BackupService
    from services.backups.scheduled_backups import ScheduledBackups
    from services.import_worker import Worker
    from services.imports.import_service import ImportService
    from services.library.original_service import OriginalService
    from services.migration.index_migration import IndexMigration
    from services.question_limit import QuestionLimit
    from services.settings_service import SettingsService
    from services.source_removal import Removals
    from services.sources.directory_source import DirectoryKind, DirectoryService
    from services.sources.import_reports import ImportReports
    from services.sources.secret_service import SourceSecrets
    from services.sources.source_kinds import SourceKinds
    from services.sources.source_service import SourceService
    from storage.ledger.database import Database
    from storage.upload_bucket import UploadBucket

SAMPLES = Path(__file__).parents[1] / "samples" / "documents"


class ImportServices:
    """The services that import documents into the library of one data folder."""

    def __init__(self, settings: Settings, stamp: str = "") -> None:
        """`stamp` identifies the stored settings; see `bootstrap.stored_settings`."""
        self.parts = Parts(settings)
        self.stamp = stamp

    def is_outdated(self) -> bool:
        """Whether the stored settings have changed since these services were built."""
        return settings_stamp(location_of(self.parts.settings)) != self.stamp

    @property
    def _database(self) -> "Database":
        return self.parts.database

    @cached_property
    def _documents(self) -> Documents:
        return Documents(self._database)

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self._database)

    @cached_property
    def access(self) -> Access:
        """What principals may read."""
        return Access(self._sources, Restrictions(self._database))

    @cached_property
    def audit(self) -> AuditService:
        """Records who changed what, and shows it."""
        retention = timedelta(days=self.parts.settings.audit_days)
        return AuditService(AuditLog(self._database), retention)

    @cached_property
    def _indexes(self) -> Indexes:
        return Indexes(self._database)

    @cached_property
    def _conversations(self) -> Conversations:
        return Conversations(self._database)

    @cached_property
    def conversations(self) -> ConversationService:
        """Lists and changes conversations."""
        settings, inactive = self.parts.settings, self.parts.settings.conversation_days
        return ConversationService(
            ConversationList(self._database),
            self._conversations,
            ImportedEvidence(self._documents, self.access),
            self.access,
            self.audit,
            timedelta(days=settings.deleted_retention_days),
            None if inactive is None else timedelta(days=inactive),
        )

    @cached_property
    def uploads(self) -> UploadService:
        """Stores uploaded files in upload boxes."""
        settings = self.parts.settings
        return UploadService(
            self._upload_bucket or UploadFiles(settings.data_dir),
            self.access,
            self._conversations,
            settings.max_file_mb * 1024 * 1024,
            self.audit,
            UploadLimits(
                Uploads(self._database),
                settings.uploads_per_day,
                settings.upload_mb_per_day,
                settings.upload_storage_mb,
            ),
        )

    @cached_property
    def originals(self) -> "OriginalService":
        """The original files of documents."""
        from services.library.original_service import OriginalService

        data_dir = self.parts.settings.data_dir
        return OriginalService(self._documents, self.access, data_dir, self._upload_bucket)

    @cached_property
    def _upload_bucket(self) -> "UploadBucket | None":
        settings = self.parts.settings
        if not settings.uploads_url:
            return None
        from storage.upload_bucket import UploadBucket

        return UploadBucket(
            settings.uploads_url,
            settings.s3_endpoint,
            settings.s3_region,
            settings.s3_access_key,
            secret_text(settings.s3_secret_key),
        )

    @cached_property
    def question_limit(self) -> "QuestionLimit":
        """Limits the questions of each person."""
        from services.question_limit import QuestionLimit

        return QuestionLimit(
            RecentQuestions(self._database), self.parts.settings.questions_per_minute
        )

    @cached_property
    def sources(self) -> "SourceService":
        """Adds, changes, imports, and deletes sources."""
        from services.sources.source_service import SourceService

        return SourceService(
            self.access,
            self.source_kinds,
            self.queue,
            SourceTraces(self._database),
            self.audit,
        )

    @cached_property
    def source_kinds(self) -> "SourceKinds":
        """The kinds of sources and their loaders."""
        from services.catalog.review_patterns import PatternJudge
        from services.sources.catalog_kind import CatalogKind
        from services.sources.confluence_kind import ConfluenceKind
        from services.sources.google_drive_kind import GoogleDriveKind
        from services.sources.source_kinds import SourceKinds

        settings, access = self.parts.settings, self.access
        secrets, max_bytes = self.source_secrets, settings.max_file_mb * 1024 * 1024
        guard = AddressGuard(AllowedHosts.parse(settings.allowed_private_hosts))
        return SourceKinds(
            [
                self._directory_kind,
                ConfluenceKind(access, secrets, max_bytes, guard),
                GoogleDriveKind(access, secrets, max_bytes, settings.google_api_url),
                CatalogKind(access, settings.data_dir, PatternJudge),
                UploadKind(self.uploads),
            ]
        )

    @cached_property
    def _directory_kind(self) -> "DirectoryKind":
        from services.sources.directory_source import DirectoryKind

        settings = self.parts.settings
        max_bytes = settings.max_file_mb * 1024 * 1024
        return DirectoryKind(self.access, settings.data_dir, max_bytes)

    @cached_property
    def source_secrets(self) -> "SourceSecrets":
        """The credentials for reading sources."""
        from services.sources.secret_service import SourceSecrets
        from settings import secret_variable

        return SourceSecrets(self._secrets, secret_variable)

    @cached_property
    def _secrets(self) -> Secrets:
        return Secrets(self._database, location_of(self.parts.settings).keys)

    @cached_property
    def settings(self) -> "SettingsService":
        """Shows, changes, and tests the settings that people can store."""
        from services.settings_service import SettingsService

        location = location_of(self.parts.settings)
        return SettingsService(
            SettingValues(location),
            settings_store(location),
            self._secrets.require_key,
            self.audit,
        )

    @cached_property
    def directories(self) -> "DirectoryService":
        """Imports folders."""
        from services.sources.directory_source import DirectoryService

        sources = self._sources
        return DirectoryService(self.imports, sources, self._directory_kind, SAMPLES, self.audit)

    @cached_property
    def imports(self) -> "ImportService":
        """Imports any source."""
        from services.imports.import_service import ImportService

        return ImportService(
            self._database,
            self.access,
            self.parts.stores,
            self.parts.configured,
            FORMATS_VERSION,
        )

    @cached_property
    def queue(self) -> ImportQueue:
        """The queue of imports, with their control and progress."""
        return ImportQueue(self._database, self.access, self.audit)

    @cached_property
    def worker(self) -> "Worker":
        """Performs queued imports."""
        from services.import_worker import Worker
        from services.imports.compaction import Compaction

        return Worker(
            self._database,
            self.queue,
            self.sources,
            self.source_kinds,
            self.imports,
            self.removals,
            Compaction(self._database, self.parts.stores),
            self._scheduled_backups,
            self.housekeeping,
        )

    @cached_property
    def backups(self) -> "BackupService":
        """Backs up the library."""
        from services.backups.backup_service import BackupService

        settings = self.parts.settings
        return BackupService(settings.data_dir, self.audit, settings.database_url)

    @property
    def _scheduled_backups(self) -> "ScheduledBackups | None":
        from services.backups.scheduled_backups import BackupSchedule, ScheduledBackups

        settings = self.parts.settings
        if settings.backup_dir is None:
            return None
        interval = timedelta(hours=settings.backup_interval_hours)
        schedule = BackupSchedule(settings.backup_dir, interval, settings.backup_keep)
        return ScheduledBackups(self.backups, schedule)

    @cached_property
    def removals(self) -> "Removals":
        """Removes entire sources from the library."""
        from services.source_removal import Removals

        return Removals(self._database, self.parts.stores, self.source_kinds)

    @cached_property
    def import_reports(self) -> "ImportReports":
        """Reports on imports and dry runs."""
        from services.sources.import_reports import ImportReports

        settings = self.parts.settings
        return ImportReports(
            self.sources,
            self.queue,
            Imports(self._database),
            settings.embedding_price,
            settings.currency,
        )

    @cached_property
    def maintenance(self) -> MaintenanceService:
        """Recovers, checks, and reindexes the library."""
        return MaintenanceService(self._database, self.parts.stores, self.parts.configured)

    @cached_property
    def index_migration(self) -> "IndexMigration":
        """Moves the index to another engine."""
        from services.migration.index_migration import IndexMigration

        return IndexMigration(self._database, self.parts.stores)

    @property
    def housekeeping(self) -> Housekeeping:
        """Removes what is no longer kept."""
        return Housekeeping(self.conversations, self.audit, self._sources, self.queue)
