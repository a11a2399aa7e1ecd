import pytest

from domain.errors import SourceError
from services.sources.secret_service import SourceSecrets, is_reference, new_key, reference_option
from storage.ledger.database import open_database
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys, Secrets
from storage.ledger.source_store import Sources

PLAIN = "a-plain-secret"


@pytest.fixture
def sources(tmp_path):
    return Sources(open_database(tmp_path))


@pytest.fixture
def make(tmp_path):
    def make(key="", **variables):
        return SourceSecrets(
            Secrets(open_database(tmp_path), EncryptionKeys(tmp_path, key)),
            lambda name: variables.get(name, ""),
        )

    return make


def source_with(sources, secret):
    options = reference_option("api_token", secret)
    return sources.ensure("confluence", "https://wiki", name="Wiki", options=options)


def test_a_typed_secret_is_stored_and_can_be_read(sources, make):
    secrets, source = make(new_key()), source_with(sources, PLAIN)
    secrets.save(source, "api_token", secrets.value(PLAIN))
    assert secrets.of(source, "api_token") == PLAIN
    assert PLAIN not in repr(source)


def test_a_variable_is_read_each_time_and_needs_no_key(sources, make, tmp_path):
    source = source_with(sources, "$FOOTNOTE_SECRET_WIKI")
    for value in ("one", "two"):
        secrets = make(FOOTNOTE_SECRET_WIKI=value)
        secrets.save(source, "api_token", "$FOOTNOTE_SECRET_WIKI")
        assert secrets.of(source, "api_token") == value
    assert not (tmp_path / KEY_FILE).exists()


def test_a_line_end_in_a_variable_is_not_part_of_the_secret(make):
    assert make(FOOTNOTE_SECRET_WIKI=f"{PLAIN}\n").value("$FOOTNOTE_SECRET_WIKI") == PLAIN
    with pytest.raises(SourceError, match="is not set"):
        make(FOOTNOTE_SECRET_WIKI=" \n").value("$FOOTNOTE_SECRET_WIKI")


def test_a_variable_replaces_a_stored_secret(sources, make):
    secrets, source = make(new_key()), source_with(sources, PLAIN)
    secrets.save(source, "api_token", PLAIN)
    secrets.save(source, "api_token", "$FOOTNOTE_SECRET_WIKI")
    with pytest.raises(SourceError, match="no stored secret"):
        secrets.of(source, "api_token")


def test_an_unset_variable_is_reported(make):
    with pytest.raises(SourceError, match="FOOTNOTE_SECRET_WIKI is not set"):
        make().value("$FOOTNOTE_SECRET_WIKI")


@pytest.mark.parametrize("other", ["$OPENAI_API_KEY", "$HOME", "$FOOTNOTE_ENCRYPTION_KEY"])
def test_variables_without_the_prefix_cannot_be_read(make, other):
    secrets = make(new_key(), **{other.removeprefix("$"): "theirs"})
    with pytest.raises(SourceError, match="FOOTNOTE_SECRET_"):
        secrets.value(other)


def test_a_password_may_begin_with_a_dollar_sign(make):
    assert make(new_key()).value("$ecret") == "$ecret"
    assert not is_reference("$ecret")


def test_a_typed_secret_needs_no_encryption_setting(sources, make):
    source = source_with(sources, PLAIN)
    make().save(source, "api_token", make().value(PLAIN))
    assert make().of(source, "api_token") == PLAIN


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])  # the latter as Windows saves it
def test_json_can_be_in_a_file_named_by_a_variable(make, tmp_path, encoding):
    (tmp_path / "key.json").write_text('{"a": 1}', encoding=encoding)
    secrets = make(FOOTNOTE_SECRET_A=str(tmp_path / "key.json"), FOOTNOTE_SECRET_B='{"b": 2}')
    assert secrets.value("$FOOTNOTE_SECRET_A", is_json=True) == '{"a": 1}'
    assert secrets.value("$FOOTNOTE_SECRET_B", is_json=True) == '{"b": 2}'


def test_a_file_named_in_a_form_is_not_read(make, tmp_path):
    (tmp_path / "key.json").write_text('{"a": 1}')
    path = str(tmp_path / "key.json")
    assert make(new_key()).value(path, is_json=True) == path


def test_an_invalid_secret_is_not_revealed(make):
    with pytest.raises(SourceError, match="FOOTNOTE_SECRET_A contains neither JSON") as raised:
        make(FOOTNOTE_SECRET_A=PLAIN).value("$FOOTNOTE_SECRET_A", is_json=True)
    assert PLAIN not in str(raised.value)
    assert raised.value.__cause__ is None
