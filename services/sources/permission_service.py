"""Shows and changes who may read sources and collections, and explains who may read documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from unicodedata import normalize

from domain import Action, Principal, Role
from domain.errors import NotFoundError
from domain.messages import _
from domain.people import user_reader
from services.access import OWNER, Access, require_role
from services.audit_service import AuditService
from services.reader_names import Readers, checked_readers
from storage.ledger.document_store import document_not_found
from storage.ledger.import_store import source_not_found
from storage.ledger.restriction_store import collection_restriction, source_restriction
from storage.ledger.source_store import StoredSource

_SHOWN = 10


class Rule(StrEnum):
    """The rule that decides whether someone may read a document."""

    OPERATOR = "operator"
    NO_RESTRICTION = "no_restriction"
    READER = "reader"
    CONVERSATION = "conversation"
    SOURCE = "source"
    COLLECTION = "collection"
    DOCUMENT = "document"


_OPERATOR = _("Readable: no restriction excludes the operator.")
_OPEN = _("Readable by everyone: the document has no restriction.")
_CONVERSATION = _("Hidden: it is a file of another person's conversation.")
_HIDDEN = {
    Rule.SOURCE: _("Hidden: only {readers} may read the source {source}."),
    Rule.COLLECTION: _("Hidden: only {readers} may read the collection {collection}."),
    Rule.DOCUMENT: _("Hidden: only {readers} may read this document."),
}
_HIDDEN_FROM_ALL = {
    Rule.SOURCE: _("Hidden: nobody may read the source {source}."),
    Rule.COLLECTION: _("Hidden: nobody may read the collection {collection}."),
    Rule.DOCUMENT: _("Hidden: nobody may read this document."),
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why someone may read a document, or why not.

    A readable document has the rule `OPERATOR`, `NO_RESTRICTION`, or `READER`, and `readers` are
    those that stand for the person. A hidden one has the first rule that hides it, and `readers`
    are those whom that rule admits; whose conversation a file belongs to is not disclosed.
    """

    is_readable: bool
    rule: Rule
    message: str
    readers: Readers = ()


class SourceReaders(NamedTuple):
    """Who may read a source: those who are in both; None is everyone.

    Its documents may be restricted further.
    """

    source: Readers | None
    collection: Readers | None


class Step(NamedTuple):
    """One of the rules that decide whether a person may read a document.

    `readers` are those whom the rule admits, None if it admits everyone; of a file of another
    person's conversation, they are empty. `through` are those of them that stand for the person.
    """

    rule: Rule
    is_readable: bool
    readers: Readers | None = None
    through: Readers = ()


class Steps(NamedTuple):
    """The rules for a person and a document of this source, all of which must admit the person."""

    source: StoredSource
    steps: tuple[Step, ...]

    @property
    def is_readable(self) -> bool:
        """Whether the person may read the document."""
        return all(one.is_readable for one in self.steps)


@dataclass(frozen=True)
class PermissionService:
    """The readers of shared sources, of collections, and of documents.

    Editors see the readers of what they may read themselves. Administrators see and change those of
    everything, even if they may not read it. Other principals get a ForbiddenError. The files of
    conversations have no other readers than their owners.
    """

    access: Access
    audit: AuditService

    def readers(self, principal: Principal, source_id: str) -> Readers | None:
        """The readers of a source; None is everyone.

        Raises:
            NotFoundError: There is no such source, or an editor may not read it.
        """
        return self._readers(source_restriction(self._source(principal, source_id).id))

    def set_readers(
        self, principal: Principal, source_id: str, readers: Iterable[str] | None
    ) -> Readers | None:
        """Replace the readers of a source, which affects the next question.

        Args:
            principal: An administrator.
            source_id: The source.
            readers: Its readers; an empty list hides it from everyone, and None from no one.

        Returns:
            The readers as stored.

        Raises:
            NotFoundError: There is no such source.
            InputError: A reader is malformed, or there are more than 1000.
        """
        require_role(principal, Role.ADMIN)
        source = self._source(principal, source_id)
        return self._restrict(principal, source_restriction(source.id), readers)

    def collection_readers(self, principal: Principal, name: str) -> Readers | None:
        """The readers of a collection; see `readers`."""
        return self._readers(collection_restriction(self._collection(principal, name)))

    def set_collection_readers(
        self, principal: Principal, name: str, readers: Iterable[str] | None
    ) -> Readers | None:
        """Replace the readers of a collection, also for future sources; see `set_readers`."""
        require_role(principal, Role.ADMIN)
        collection = self._collection(principal, name)
        return self._restrict(principal, collection_restriction(collection), readers)

    def who(self, principal: Principal, source_id: str) -> SourceReaders:
        """Who may read a source.

        Raises:
            NotFoundError: There is no such source, or an editor may not read it.
        """
        source = self._source(principal, source_id)
        return SourceReaders(
            self._readers(source_restriction(source.id)),
            self._readers(collection_restriction(source.collection)),
        )

    def why(self, principal: Principal, person: Principal, document_id: str) -> Explanation:
        """Why the person may or may not read a document.

        Raises:
            NotFoundError: There is no such document, or an editor may not read it.
        """
        source, steps = self.steps(principal, person, document_id)
        if person.is_operator and not source.conversation_id:
            return Explanation(True, Rule.OPERATOR, _OPERATOR)
        hiding = next((one for one in steps if not one.is_readable), None)
        return _hidden(hiding, source) if hiding else _readable(steps)

    def steps(self, principal: Principal, person: Principal, document_id: str) -> Steps:
        """Each rule for the person and the document: of the source, the collection, and its own.

        Raises:
            NotFoundError: There is no such document, or an editor may not read it.
        """
        source = self._source_of(principal, document_id)
        return Steps(source, tuple(self._steps(source, document_id, person.readers)))

    def _source(self, principal: Principal, source_id: str) -> StoredSource:
        require_role(principal, Role.EDITOR)
        is_admin = principal.role.includes(Role.ADMIN)
        if is_admin or self.access.sees(principal, source_id):
            source = self.access.sources.get(source_id)
            if not source.conversation_id:
                return source
        raise source_not_found(source_id)

    def _source_of(self, principal: Principal, document_id: str) -> StoredSource:
        require_role(principal, Role.EDITOR)
        source_id = self.access.sources.of_documents([document_id]).get(document_id)
        is_admin = principal.role.includes(Role.ADMIN)
        if source_id and (is_admin or self.access.reads(principal, source_id, document_id)):
            return self.access.sources.get(source_id)
        raise document_not_found(document_id)

    def _collection(self, principal: Principal, name: str) -> str:
        require_role(principal, Role.EDITOR)
        is_admin, collection = principal.role.includes(Role.ADMIN), normalize("NFC", name)
        own = self.access.library_sources
        sources = self.access.shared_sources() if is_admin else own(principal).values()
        if collection in {one.collection for one in sources}:
            return collection
        raise NotFoundError(
            _("There is no collection {collection}.").format(collection=repr(name[:200]))
        )

    def _readers(self, name: str) -> Readers | None:
        readers = self.access.restrictions.readers(name)
        return None if readers is None else tuple(sorted(readers))

    def _restrict(
        self, principal: Principal, name: str, readers: Iterable[str] | None
    ) -> Readers | None:
        checked = None if readers is None else checked_readers(readers)
        self.access.restrictions.restrict(name, checked)
        number = None if checked is None else len(checked)
        self.audit.record(principal, Action.ACCESS_CHANGED, name, readers=number)
        return checked

    def _steps(
        self, source: StoredSource, document_id: str, person: frozenset[str]
    ) -> Iterator[Step]:
        if owner := source.options.get(OWNER):
            yield _step(Rule.CONVERSATION, frozenset([user_reader(owner)]), person)
            return
        stored = self.access.restrictions
        yield _step(Rule.SOURCE, stored.readers(source_restriction(source.id)), person)
        collection = stored.readers(collection_restriction(source.collection))
        yield _step(Rule.COLLECTION, collection, person)
        own = stored.of_documents([document_id]).get(document_id, ())
        for readers in sorted(own, key=sorted):
            yield _step(Rule.DOCUMENT, readers, person)
        if not own:
            yield Step(Rule.DOCUMENT, True)


def _step(rule: Rule, readers: frozenset[str] | None, person: frozenset[str]) -> Step:
    if readers is None:
        return Step(rule, True)
    through = tuple(sorted(person & readers))
    is_secret = rule is Rule.CONVERSATION and not through
    return Step(rule, bool(through), () if is_secret else tuple(sorted(readers)), through)


def _readable(steps: Iterable[Step]) -> Explanation:
    through = tuple(sorted({reader for step in steps for reader in step.through}))
    if not through:
        return Explanation(True, Rule.NO_RESTRICTION, _OPEN)
    message = _("Readable by {readers}.").format(readers=_names(through))
    return Explanation(True, Rule.READER, message, through)


def _hidden(hiding: Step, source: StoredSource) -> Explanation:
    if hiding.rule is Rule.CONVERSATION:
        return Explanation(False, hiding.rule, _CONVERSATION)
    readers = hiding.readers or ()
    template = (_HIDDEN if readers else _HIDDEN_FROM_ALL)[hiding.rule]
    message = template.format(
        readers=_names(readers), source=source.name, collection=source.collection
    )
    return Explanation(False, hiding.rule, message, readers)


def _names(readers: Readers) -> str:
    more = ", ..." if len(readers) > _SHOWN else ""
    return ", ".join(readers[:_SHOWN]) + more
