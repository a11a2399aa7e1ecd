"""Runs Alembic in this process on an open connection."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection

_SCRIPTS = Path(__file__).parent


def upgrade(connection: Connection) -> None:
    """Upgrade the database to the newest migration, within the connection's transaction."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def is_known(revision: str) -> bool:
    """Whether this version contains the migration; a newer one may have written the database."""
    try:
        return ScriptDirectory.from_config(_config()).get_revision(revision) is not None
    except CommandError:
        return False


def newest() -> str | None:
    """The newest migration of this version of Footnote."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    # Escaped, because Alembic interpolates "%".
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config
