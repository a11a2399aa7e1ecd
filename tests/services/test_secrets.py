import pytest

from errors import ConfigError, SourceError
from services.secrets import SourceSecrets, is_reference, new_key, reference_option
from storage.database import open_database
from storage.secrets import Secrets
from storage.sources import Sources

PLAIN = "a-plain-secret"


@pytest.fixture
def sources(tmp_path):
    return Sources(open_database(tmp_path))


@pytest.fixture
def make(tmp_path):
    def make(key="", **variables):
        return SourceSecrets(
            Secrets(open_database(tmp_path), key), lambda name: variables.get(name, "")
        )

    return make


def kept(sources, given):
    options = reference_option("api_token", given)
    return sources.ensure("confluence", "https://wiki", name="Wiki", options=options)


def test_a_typed_secret_is_kept_and_read_again(sources, make):
    secrets, source = make(new_key()), kept(sources, PLAIN)
    secrets.keep(source, "api_token", secrets.value(PLAIN))
    assert secrets.of(source, "api_token") == PLAIN
    assert PLAIN not in repr(source)


def test_a_named_variable_is_read_each_time_and_needs_no_key(sources, make):
    source = kept(sources, "$FOOTNOTE_SECRET_WIKI")
    for value in ("one", "two"):
        secrets = make(FOOTNOTE_SECRET_WIKI=value)
        secrets.keep(source, "api_token", "$FOOTNOTE_SECRET_WIKI")
        assert secrets.of(source, "api_token") == value


def test_a_named_variable_takes_the_place_of_what_was_kept(sources, make):
    secrets, source = make(new_key()), kept(sources, PLAIN)
    secrets.keep(source, "api_token", PLAIN)
    secrets.keep(source, "api_token", "$FOOTNOTE_SECRET_WIKI")
    with pytest.raises(SourceError, match="No secret is kept"):
        secrets.of(source, "api_token")


def test_a_variable_that_is_not_set_is_named(make):
    with pytest.raises(SourceError, match="FOOTNOTE_SECRET_WIKI is not set"):
        make().value("$FOOTNOTE_SECRET_WIKI")


@pytest.mark.parametrize("other", ["$OPENAI_API_KEY", "$HOME", "$FOOTNOTE_ENCRYPTION_KEY"])
def test_no_other_variable_can_be_read(make, other):
    secrets = make(new_key(), **{other.removeprefix("$"): "theirs"})
    with pytest.raises(SourceError, match="FOOTNOTE_SECRET_"):
        secrets.value(other)


def test_a_password_may_begin_with_the_sign_of_a_variable(make):
    assert make(new_key()).value("$ecret") == "$ecret"
    assert not is_reference("$ecret")


def test_a_typed_secret_without_a_key_is_refused(make):
    with pytest.raises(ConfigError, match="FOOTNOTE_ENCRYPTION_KEY"):
        make().value(PLAIN)
