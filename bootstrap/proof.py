"""The services that let an answer be checked: its documents, its cost, what people think of it."""

from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.parts import Parts

if TYPE_CHECKING:
    from services.chat import ChatService
    from services.costs import CostService
    from services.labels import LabelService
    from services.ratings import RatingService
    from services.reader import DocumentReader


class ProofServices:
    """Built when first used, as all services are."""

    _parts: Parts

    @cached_property
    def chat(self) -> "ChatService":
        """Questions and their answers."""
        raise NotImplementedError

    @cached_property
    def labels(self) -> "LabelService":
        """Which passages are right for which questions."""
        raise NotImplementedError

    @cached_property
    def reader(self) -> "DocumentReader":
        """Documents at a passage."""
        from loaders.pdf_pages import original_bytes, page_png
        from services.reader import DocumentReader
        from storage.conversations import Conversations
        from storage.documents import Documents
        from storage.reading import Reading
        from storage.sources import Sources

        database = self._parts.database
        return DocumentReader(
            Documents(database),
            Sources(database),
            Reading(database),
            Conversations(database).turn,
            original_bytes,
            page_png,
        )

    @cached_property
    def ratings(self) -> "RatingService":
        """What people think of answers."""
        from services.ratings import RatingService
        from storage.ratings import Ratings

        labels, ratings = self.labels, Ratings(self._parts.database)
        return RatingService(ratings, labels, labels.indexes, labels.finder, self.chat.replay)

    @property
    def costs(self) -> "CostService":
        """Tokens and money that answers took, at the prices of the model that answers now."""
        from services.costs import CostService, Prices

        settings, model = self._parts.settings, self._parts.chat_choice.current().label
        return CostService(
            Prices(model, settings.chat_price_input, settings.chat_price_output, settings.currency)
        )
