"""The services around a question: what it may search, what to ask, what to do without an answer."""

from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.parts import Parts
from domain import LOCAL_USER, ImportKind

if TYPE_CHECKING:
    from services.choices import ChoiceService
    from services.queue import ImportQueue
    from services.relevance import RelevanceService
    from services.search import SearchService
    from services.suggestions import SuggestionService
    from services.uploads import UploadService


class AskingServices:
    """Built when first used, as all services are."""

    _parts: Parts

    @cached_property
    def search(self) -> "SearchService":
        """Passages without an answer."""
        raise NotImplementedError

    @property
    def queue(self) -> "ImportQueue":
        """Imports as jobs."""
        raise NotImplementedError

    @cached_property
    def uploads(self) -> "UploadService":
        """Files that people give, in boxes."""
        from services.uploads import UploadService
        from storage.conversations import Conversations
        from storage.sources import Sources
        from storage.upload_files import UploadFiles

        return UploadService(
            UploadFiles(self._parts.settings.data_dir),
            Sources(self._parts.database),
            Conversations(self._parts.database),
            self._parts.settings.max_file_mb * 1024 * 1024,
        )

    @cached_property
    def choices(self) -> "ChoiceService":
        """What a search can be narrowed to."""
        from services.choices import ChoiceService
        from storage.document_list import DocumentList
        from storage.label_list import LabelList
        from storage.sources import Sources

        database = self._parts.database
        return ChoiceService(
            DocumentList(database),
            LabelList(database),
            Sources(database),
            self._parts.default_search,
        )

    @cached_property
    def suggestions(self) -> "SuggestionService":
        """First questions about the library."""
        from services.suggestions import SuggestionService
        from storage.document_list import DocumentList
        from storage.headings import Headings
        from storage.sources import Sources

        database = self._parts.database
        return SuggestionService(DocumentList(database), Headings(database), Sources(database))

    @cached_property
    def relevance(self) -> "RelevanceService":
        """Why an answer has no proof, and how to widen its search."""
        from services.relevance import RelevanceService

        return RelevanceService(lambda: self.search, self._parts.default_search)

    def remove_abandoned_boxes(self) -> None:
        """Let a worker take out what was dropped into conversations that are gone for good."""
        from services.own_sources import owner_of

        for box in self.uploads.abandoned():
            self.queue.enqueue(owner_of(box, LOCAL_USER), box.id, ImportKind.REMOVAL)
