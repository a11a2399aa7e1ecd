"""Exports what is stored about an account, as JSON files in a zip archive."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from domain import Account, Action, Principal, Role
from domain.errors import NotFoundError
from services.audit_service import AuditService
from services.chat.conversation_service import ConversationService
from services.evaluation.label_service import LabelService
from services.evaluation.rating_service import RatingService
from storage.ledger.account_store import Accounts, account_not_found
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.conversation_link_store import ConversationLink, ConversationLinks
from storage.ledger.people_store import People

_PAGE = 100


@dataclass(frozen=True)
class AccountExport:
    """Writes a person's data, for the person and for administrators."""

    accounts: Accounts
    conversations: ConversationService
    ratings: RatingService
    labels: LabelService
    people: People
    keys: ApiKeys
    links: ConversationLinks
    audit: AuditService

    def write(self, principal: Principal, account_id: str, file: IO[bytes]) -> None:
        """Write a zip archive with everything that belongs to the account, except uploaded files.

        Conversations are the files that can be imported again. API keys and links have no secrets.
        Evidence that the person may no longer read is left out, and so are deleted conversations.

        Raises:
            NotFoundError: There is no such account, or it is another person's and the principal is
                not an administrator.
        """
        account = self.accounts.find(account_id)
        is_own = principal.user_id == account_id
        if account is None or not (is_own or principal.role.includes(Role.ADMIN)):
            raise account_not_found(account_id)
        person = principal if is_own else account.principal
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for name, data in self._files(account, person):
                archive.writestr(name, data)
        self.audit.record(principal, Action.ACCOUNT_EXPORTED, account_id)

    def _files(self, account: Account, person: Principal) -> Iterator[tuple[str, bytes]]:
        keys = [one for one in self.keys.list() if one.user_id == account.id]
        yield "account.json", _json(asdict(account))
        yield "api_keys.json", _json(map(asdict, keys))
        yield "ratings.json", _json(map(asdict, self.ratings.list(person)))
        yield "labels.json", _json(map(asdict, self.labels.list(person)))
        yield "preferences.json", _json(map(asdict, self.people.list(account.id)))
        yield "links.json", _json(map(_link_values, self.links.list(account.id)))
        yield "audit_events.json", _json(map(asdict, self.audit.log.about(account.id)))
        for conversation_id in self._conversation_ids(person):
            try:
                data = self.conversations.export(person, conversation_id, "json")
            except NotFoundError:  # deleted meanwhile
                continue
            yield f"conversations/{conversation_id}.json", data

    def _conversation_ids(self, person: Principal) -> list[str]:
        ids = list[str]()
        while page := self.conversations.page(person, limit=_PAGE, offset=len(ids)).items:
            ids += [one.id for one in page]
        return list(dict.fromkeys(ids))


def _link_values(link: ConversationLink) -> dict[str, Any]:
    return {name: value for name, value in asdict(link).items() if name != "token"}


def _json(values: Iterable[Any]) -> bytes:
    content = values if isinstance(values, dict) else list(values)
    return json.dumps(content, ensure_ascii=False, indent=1, default=_plain).encode()


def _plain(value: object) -> str | list[Any]:
    if isinstance(value, frozenset):
        return sorted(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
