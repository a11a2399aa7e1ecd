from bootstrap import ledger_migration
from domain.logs import HIDDEN, redact


def test_logs_do_not_show_the_password_of_the_new_database(make_settings):
    settings = make_settings()
    settings.data_dir.mkdir(exist_ok=True)
    ledger_migration(settings, "postgresql://ada:Lovelace1843@db/footnote")
    assert redact("connecting as ada with Lovelace1843") == f"connecting as ada with {HIDDEN}"
