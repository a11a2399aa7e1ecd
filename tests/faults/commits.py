"""A witness in the database: who committed which document of which import, and who held its lease.

Triggers record each commit in the transaction that makes it, so no commit escapes them. The writer
is the name in the connection's `application_name`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import psycopg

from tests.postgresql.server import Server

_SCHEMA = """
CREATE SCHEMA witness;
CREATE TABLE witness.items (
    id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(),
    writer text DEFAULT current_setting('application_name'),
    import_id text, key text, outcome text, state text, owner text
);
CREATE TABLE witness.versions (
    id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(),
    writer text DEFAULT current_setting('application_name'), source_id text, key text, version text
);
CREATE TABLE witness.claims (
    id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(),
    import_id text, owner text
);
CREATE FUNCTION witness.note_item() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness.items (import_id, key, outcome, state, owner)
    SELECT NEW.import_id, NEW.key, NEW.outcome, state, split_part(worker, '/', 1)
    FROM imports WHERE id = NEW.import_id;
    RETURN NULL;
END $$;
CREATE FUNCTION witness.note_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness.versions (source_id, key, version)
    VALUES (NEW.source_id, NEW.key, NEW.version);
    RETURN NULL;
END $$;
CREATE FUNCTION witness.note_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness.claims (import_id, owner) VALUES (NEW.id, split_part(NEW.worker, '/', 1));
    RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER INSERT ON import_items
    FOR EACH ROW EXECUTE FUNCTION witness.note_item();
CREATE TRIGGER witness AFTER INSERT ON documents
    FOR EACH ROW EXECUTE FUNCTION witness.note_version();
CREATE TRIGGER witness AFTER UPDATE OF worker ON imports
    FOR EACH ROW WHEN (OLD.worker <> NEW.worker AND NEW.worker <> '')
    EXECUTE FUNCTION witness.note_claim();
"""


class Version(NamedTuple):
    """A committed version of a document; `at` is the server's time."""

    at: str
    writer: str
    source_id: str
    key: str
    version: str


@dataclass(frozen=True)
class Commits:
    """What was committed to the ledger since this was created, after its migration."""

    server: Server
    database: str

    def __post_init__(self) -> None:
        self._rows(_SCHEMA)

    def versions(self) -> list[Version]:
        """The committed versions, in the order of their commits."""
        rows = self._rows(
            "SELECT at::text, writer, source_id, key, version FROM witness.versions ORDER BY id"
        )
        return [Version(*map(str, row)) for row in rows]

    def zombies(self) -> list[str]:
        """Commits to an import whose lease the writer did not hold, described."""
        rows = self._rows(
            "SELECT at, writer, outcome, key, import_id, owner, state FROM witness.items"
            " WHERE owner <> writer OR state <> 'running' ORDER BY id"
        )
        return [
            f"{at}: {writer} committed {outcome} {key} of import {import_id}, which was {state}"
            f" with a lease of {owner}"
            for at, writer, outcome, key, import_id, owner, state in rows
        ]

    def repeated_items(self) -> list[str]:
        """Documents that an import has recorded more than once, described."""
        rows = self._rows(
            "SELECT import_id, key, count(*) FROM import_items GROUP BY import_id, key"
            " HAVING count(*) > 1"
        )
        return [f"import {one} recorded {key} {count} times" for one, key, count in rows]

    def takeovers(self) -> int:
        """How often an import was continued by another worker."""
        [(count,)] = self._rows(
            "SELECT count(*) FROM (SELECT owner, lag(owner)"
            " OVER (PARTITION BY import_id ORDER BY id) AS before FROM witness.claims) AS claims"
            " WHERE owner <> before"
        )
        return int(str(count))

    def texts(self, source_id: str) -> dict[str, str]:
        """The texts of a source's documents in the library, by key."""
        rows = self._rows(
            "SELECT key, text FROM documents JOIN document_texts ON document_id = id"
            f" WHERE source_id = '{source_id}'"
        )
        assert len({key for key, _text in rows}) == len(rows), "a document is there twice"
        return {str(key): str(text) for key, text in rows}

    def failures(self, source_id: str) -> dict[str, str]:
        """Why documents of a source could not be imported, by key."""
        rows = self._rows(f"SELECT key, reason FROM failures WHERE source_id = '{source_id}'")
        return {str(key): str(reason) for key, reason in rows}

    def answers(self) -> dict[str, str]:
        """The stored answers by the ids of their turns."""
        return {str(id_): str(answer) for id_, answer in self._rows("SELECT id, answer FROM turns")}

    def waiting(self) -> int:
        """How many imports are not at an end."""
        [(count,)] = self._rows("SELECT count(*) FROM imports WHERE finished_at IS NULL")
        return int(str(count))

    def runs(self) -> dict[str, int]:
        """How many imports are in which state."""
        rows = self._rows("SELECT state, count(*) FROM imports GROUP BY state ORDER BY state")
        return {str(state): int(str(count)) for state, count in rows}

    def importer(self) -> str:
        """The name of a worker that performs an import; "" if there is none, or no database."""
        try:
            rows = self._rows(
                "SELECT split_part(worker, '/', 1) FROM imports WHERE state = 'running' LIMIT 1"
            )
        except psycopg.OperationalError:
            return ""
        return str(rows[0][0]) if rows else ""

    def _rows(self, statement: str) -> list[tuple[object, ...]]:
        return self.server.execute(statement, self.database)
