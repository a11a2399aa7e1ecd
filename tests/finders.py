"""Who finds a secret of a source whose permissions the library mirrors."""

SECRET = "The bonus of the board is 4,711 euros."
QUESTION = "How much is the bonus of the board?"
_FIGURE = "4,711"


class Finders:
    """The people who find the secret by search and in answers, which must agree."""

    def __init__(self, services, everyone):
        self.services, self._everyone = services, everyone

    def finders(self):
        """The ids of these people."""
        finders = {one.user_id for one in self._everyone if self.finds(one)}
        assert finders == {one.user_id for one in self._everyone if self._answers(one)}
        return finders

    def finds(self, principal):
        passages = self.services.search.search(principal, QUESTION)
        return any(_FIGURE in one.page_content for one in passages)

    def _answers(self, principal):
        return _FIGURE in repr([*self.services.chat.stream(principal, QUESTION)])
