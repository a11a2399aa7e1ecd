"""A library of documents with secrets, whose restrictions change at random."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi.testclient import TestClient

from api.application import make_app
from bootstrap.services import Services
from domain import LOCAL_USER, ApiScope, DocumentFilter, Principal, Role
from services.api_key_service import NewApiKey
from storage.ledger.restriction_store import collection_restriction, source_restriction
from storage.ledger.source_store import StoredSource

USERS = ("ada", "bert", "chloe", "dai")
GROUPS = ("staff", "hr", "legal", "ops", "board")
TOPICS = (
    "The {handle} travel policy allows a train journey in second class. {secret} is its owner.",
    "Reports about {handle} are due on Friday. The archive key of {secret} hangs in room 4.",
    "{handle} 휴가 규정: 신규 입사자는 연차 15일을 받습니다. 담당자는 {secret} 입니다.",
    "{handle} の休暇規程では、年次有給休暇は12日です。担当は {secret} です。",
    "The budget of {handle} grew by 7 percent. Ask {secret} before you spend more.",
)
QUESTIONS = (
    "What is the travel policy of {handle}?",
    "Who is the owner of {handle}?",
    "{handle} 휴가 담당자는 누구입니까?",
    "{handle} の休暇は何日ですか?",
    "Which document is about {handle}?",
    "Summarize the document about {handle}.",
    "budget",
    "휴가 규정",
    "Where is the archive key?",
    "archve kye of {handle}",
)
SOURCES = {"handbook": "People", "projects": "Projects", "archive": "Projects"}
PER_SOURCE = 6


@dataclass(frozen=True)
class SecretDocument:
    """A document; everyone knows its `handle`, and its `secret` occurs in no other document."""

    id: str
    source: StoredSource
    handle: str
    secret: str

    @property
    def title(self) -> str:
        return f"Plan {self.secret}"


class World:
    """A library, and what each user may read in it by an independent model."""

    def __init__(self, services: Services, folder: Path, seed: int) -> None:
        self.services = services
        self.random = random.Random(seed)
        self.documents: list[SecretDocument] = []
        self._app = make_app(services)
        self._keys: dict[Principal, NewApiKey] = {}
        self._sources: dict[str, list[str] | None] = {}
        self._collections: dict[str, list[str] | None] = {}
        self._restrictions: dict[str, list[list[str]]] = {}
        for name, collection in SOURCES.items():
            self._import(folder / name, collection)

    def _import(self, folder: Path, collection: str) -> None:
        folder.mkdir()
        names = {}
        for n in range(PER_SOURCE):
            number = len(self.documents) + n
            handle, secret = f"subject{number}", f"zq{self.random.getrandbits(64):016x}"
            text = TOPICS[number % len(TOPICS)].format(handle=handle, secret=secret)
            file = folder / f"{secret}.md"
            file.write_text(f"# Plan {secret}\n\n## About {secret}\n\n{text}\n", encoding="utf-8")
            names[file.name] = handle, secret
        self.services.directories.import_directory(
            LOCAL_USER, folder, collection=collection, labels=[folder.name]
        )
        sources = (one.source for one in self.services.sources.list(LOCAL_USER))
        source = next(one for one in sources if one.location == str(folder))
        page = self.services.documents.page(LOCAL_USER, DocumentFilter(sources=(source.id,)))
        for one in page.documents:
            self.documents.append(SecretDocument(one.id, source, *names[one.key]))

    def passage_ids(self, document: SecretDocument) -> list[str]:
        """The ids of the document's passages, whoever may read it."""
        passages = self.services.documents.passages(LOCAL_USER, document.id)
        return [one.passage.id for one in passages]

    def secret(self, principal: Principal) -> str:
        """An API key of the principal."""
        if principal not in self._keys:
            self._keys[principal] = self.services.api_keys.create(
                LOCAL_USER, principal, "leaks", [*ApiScope]
            )
        return self._keys[principal].secret

    def client(self, principal: Principal) -> TestClient:
        """A client of the API with a key of the principal."""
        headers = {"Authorization": f"Bearer {self.secret(principal)}"}
        return TestClient(self._app, headers=headers)

    def readers(self) -> list[str]:
        """Some users and groups, perhaps none."""
        everyone = [*(f"user:{one}" for one in USERS), *(f"group:{one}" for one in GROUPS)]
        return self.random.sample(everyone, self.random.randrange(4))

    def change_permissions(self) -> None:
        """Replace the restrictions of a source, a collection, and several documents."""
        restrictions = self.services.access.restrictions
        source = self.random.choice(self.documents).source
        self._sources[source.id] = self.random.choice([None, None, self.readers()])
        restrictions.restrict(source_restriction(source.id), self._sources[source.id])
        collection = self.random.choice(sorted(set(SOURCES.values())))
        self._collections[collection] = self.random.choice([None, None, None, self.readers()])
        restrictions.restrict(collection_restriction(collection), self._collections[collection])
        changed = self.random.sample(self.documents, 5)
        new = {one.id: [self.readers() for _ in range(self.random.randrange(3))] for one in changed}
        self._restrictions |= new
        restrictions.restrict_documents(
            {id_: [frozenset(one) for one in several] for id_, several in new.items()}
        )

    def principal(self) -> Principal:
        """A random user with random groups, half of them editors."""
        groups = self.random.sample(GROUPS, self.random.randrange(3))
        role = self.random.choice([Role.READER, Role.EDITOR])
        return Principal(self.random.choice(USERS), frozenset(groups), role)

    def readable(self, principal: Principal) -> list[SecretDocument]:
        """The documents that the principal may read."""
        return [one for one in self.documents if self._may_read(principal, one)]

    def hidden(self, principal: Principal) -> list[SecretDocument]:
        """The documents that the principal may not read."""
        return [one for one in self.documents if not self._may_read(principal, one)]

    def sees_imports(self, principal: Principal, source: StoredSource) -> bool:
        """Whether the principal sees the imports of the source: as an editor who may read it."""
        return principal.role is Role.EDITOR and self._may_read_source(principal, source)

    def _may_read(self, principal: Principal, document: SecretDocument) -> bool:
        own = self._restrictions.get(document.id, ())
        return self._may_read_source(principal, document.source) and _is_in_each(principal, own)

    def _may_read_source(self, principal: Principal, source: StoredSource) -> bool:
        lists = (self._sources.get(source.id), self._collections.get(source.collection))
        return _is_in_each(principal, lists)


def _is_in_each(principal: Principal, lists: Iterable[Sequence[str] | None]) -> bool:
    mine = {f"user:{principal.user_id}", *(f"group:{one}" for one in principal.groups)}
    return all(one is None or mine & set(one) for one in lists)


def question(world: World) -> str:
    """A question about a document of the library, whoever may read it."""
    handle = world.random.choice(world.documents).handle
    return world.random.choice(QUESTIONS).format(handle=handle)
