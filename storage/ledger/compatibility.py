"""Which versions of Footnote work with a ledger that a newer version has migrated.

Each migration states the oldest migration whose version still works with its tables, and the ledger
records it next to its own. So, during a rolling upgrade, the previous version can use the migrated
ledger.
"""

from sqlalchemy import Connection, text

from domain.errors import StorageError
from domain.logs import get_logger
from domain.messages import _
from storage.ledger.ledger_check import revision_of
from storage.ledger.ledger_location import LedgerLocation

_log = get_logger("storage")


def record_oldest(connection: Connection, oldest: str) -> None:
    """Record the oldest migration whose version works with this ledger from now on."""
    connection.execute(text("UPDATE alembic_version SET oldest = :oldest"), {"oldest": oldest})


def is_ready(connection: Connection, location: LedgerLocation, head: str) -> bool:
    """Whether this version, whose newest migration is `head`, works with the ledger as it is.

    If not, the ledger must be migrated.

    Raises:
        StorageError: Only a newer version works with it.
    """
    revision = revision_of(connection)
    if revision == head or _is_compatible(connection, revision):
        return True
    require_known(revision, location)
    return False


def _is_compatible(connection: Connection, revision: str | None) -> bool:
    """Whether a newer version has migrated the ledger, but this one works with it."""
    from storage.ledger.migrations.run import is_known  # loads Alembic

    if revision is None or is_known(revision):
        return False
    version = connection.execute(text("SELECT * FROM alembic_version")).mappings().one()
    oldest = version.get("oldest")
    if oldest is None or not is_known(oldest):
        return False
    _log.info("ledger of a newer version", revision=revision, oldest=oldest)
    return True


def require_known(revision: str | None, location: LedgerLocation) -> None:
    """Require that this version of Footnote knows the migration of the ledger at this place.

    Raises:
        StorageError: A newer version of Footnote has written the ledger.
    """
    from storage.ledger.migrations.run import is_known  # loads Alembic

    if revision is not None and not is_known(revision):
        message = _(
            "{place} was written by a newer Footnote (version {revision}), and this version does"
            " not work with it: stop all processes of Footnote and start only the newer version,"
            " or name another place with {setting}"
        ).format(place=location.name, revision=revision, setting=location.setting)
        raise location.conceal(StorageError(message))
