from pathlib import Path

import pytest

from bootstrap.parts import Parts
from domain.errors import ConfigError
from services.catalog.place_scores import PartWeights
from services.catalog.place_search import EngineOptions
from settings import Settings, load_settings, secret_values, secret_variable
from storage.ledger.index_store import Engine
from storage.opensearch.connection import SearchServer
from storage.opensearch.mapping import IndexOptions


@pytest.fixture(autouse=True)
def _no_env_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_setting_is_read_from_its_variable(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_TOP_K", "7")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    settings = load_settings()
    assert (settings.top_k, settings.openai_base_url) == (7, "http://localhost:11434/v1")


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert load_settings().openai_api_key is None


def test_a_value_out_of_range_is_reported_with_its_variable(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_TOP_K", "0")
    with pytest.raises(ConfigError, match="FOOTNOTE_TOP_K.*0"):
        load_settings()


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [
        ("FOOTNOTE_TOPK", "FOOTNOTE_TOP_K"),
        ("footnote_search_mod", "FOOTNOTE_SEARCH_MODE"),
        ("FOOTNOTE_OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("FOOTNOTE_XYZZY", ".env.example"),
    ],
)
def test_an_unknown_variable_is_reported_with_the_closest_known_one(typed, suggestion, monkeypatch):
    monkeypatch.setenv(typed, "x")
    with pytest.raises(ConfigError, match=f"{typed.upper()} is not a setting.*{suggestion}"):
        load_settings()


def test_an_unknown_variable_in_the_env_file_is_reported(tmp_path):
    (tmp_path / ".env").write_text("OTHER_PROGRAM=1\nFOOTNOTE_DATA_DIRR=/somewhere\n")
    with pytest.raises(ConfigError, match="FOOTNOTE_DATA_DIRR.*FOOTNOTE_DATA_DIR[?]"):
        load_settings()


def test_variables_of_other_programs_and_the_tests_are_ignored(monkeypatch):
    clients = ("FOOTNOTE_URL", "FOOTNOTE_API_KEY")
    for name in ("FOOTNOTE_EVAL_DATA", "FOOTNOTE_SCREENSHOTS", "FOOTPRINT", "PATH", *clients):
        monkeypatch.setenv(name, "x")
    assert load_settings().top_k == 5


def test_an_overlap_as_long_as_the_passage_is_rejected(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_PASSAGE_CHARS", "200")
    monkeypatch.setenv("FOOTNOTE_PASSAGE_OVERLAP_CHARS", "200")
    with pytest.raises(ConfigError, match="FOOTNOTE_PASSAGE_OVERLAP_CHARS"):
        load_settings()


def test_a_key_is_not_printed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in repr(load_settings())


def test_each_setting_has_a_description():
    assert all(field.description for field in Settings.model_fields.values())


def test_query_rewrites_without_a_chat_model_are_rejected(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_MULTI_QUERY", "2")
    with pytest.raises(ConfigError, match="FOOTNOTE_MULTI_QUERY.*FOOTNOTE_CHAT_MODEL"):
        load_settings()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-program")
    with pytest.raises(ConfigError, match="FOOTNOTE_MULTI_QUERY.*FOOTNOTE_CHAT_MODEL"):
        load_settings()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    assert load_settings().multi_query == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "-1"), ("ANSWER_TIMEOUT_S", "0"), ("ANSWER_TIMEOUT_S", "nan")],
)
def test_an_answer_limit_out_of_range_is_reported(name, value, monkeypatch):
    monkeypatch.setenv(f"FOOTNOTE_CHAT_{name}", value)
    with pytest.raises(ConfigError, match=f"FOOTNOTE_CHAT_{name}"):
        load_settings()


def test_a_secret_is_read_from_the_environment_and_the_env_file(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("FOOTNOTE_SECRET_WIKI=of-the-file\nFOOTNOTE_SECRET_B=b\n")
    monkeypatch.setenv("FOOTNOTE_SECRET_WIKI", "of-the-environment")
    assert load_settings().top_k == 5
    assert secret_variable("FOOTNOTE_SECRET_WIKI") == "of-the-environment"
    assert secret_variable("FOOTNOTE_SECRET_B") == "b"
    assert secret_variable("FOOTNOTE_SECRET_C") == ""


def test_only_secret_variables_can_be_read_as_secrets():
    with pytest.raises(ValueError, match="PATH"):
        secret_variable("PATH")


def test_the_encryption_key_is_not_printed(monkeypatch):
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEY", "the-key")
    assert "the-key" not in repr(load_settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HYBRID_WEIGHT", "-1"),
        ("CONFIDENCE_WEIGHT", "nan"),
        ("TYPE_WEIGHT", "inf"),
        ("CROSS_ENCODER_WEIGHT", "101"),
        ("ASPECTS_WEIGHT", "-0.1"),
        ("DENSE_WEIGHT", "1.1"),
        ("CANDIDATES", "0"),
        ("TOP_K", "101"),
    ],
)
def test_a_catalog_setting_out_of_range_is_reported(name, value, monkeypatch):
    monkeypatch.setenv(f"FOOTNOTE_CATALOGUE_{name}", value)
    with pytest.raises(ConfigError, match=f"FOOTNOTE_CATALOGUE_{name}"):
        load_settings()


def test_the_default_catalog_ranking_matches_its_specification(monkeypatch):
    assert Parts(load_settings()).catalog_options == EngineOptions()
    names = ("HYBRID", "CONFIDENCE", "TYPE", "CROSS_ENCODER", "ASPECTS")
    for n, name in enumerate(names, start=3):
        monkeypatch.setenv(f"FOOTNOTE_CATALOGUE_{name}_WEIGHT", str(n))
    for name, value in {"DENSE_WEIGHT": "0.25", "CANDIDATES": "7", "TOP_K": "8"}.items():
        monkeypatch.setenv(f"FOOTNOTE_CATALOGUE_{name}", value)
    expected = EngineOptions(PartWeights(3.0, 4.0, 5.0, 6.0, 7.0), 0.25, 7, 8)
    assert Parts(load_settings()).catalog_options == expected


@pytest.fixture
def set_search(monkeypatch):
    """Sets variables that begin with FOOTNOTE_SEARCH_."""

    def set_variables(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"FOOTNOTE_SEARCH_{name.upper()}", value)

    return set_variables


def test_without_an_address_the_passages_are_in_the_data_folder():
    parts = Parts(load_settings())
    assert parts.search_cluster is None
    assert parts.evaluation_cluster is None
    assert parts.configured.engine is Engine.EMBEDDED


def test_the_opensearch_server_and_its_indexes_are_those_of_the_settings(set_search):
    set_search(
        url="https://search-1:9200/, HTTPS://[::1]:9201,",
        user="footnote",
        password="a,비밀",
        ca_file="/etc/ca.pem",
        timeout_s="1.5",
        index="검색-1",
        shards="3",
        replicas="0",
    )
    parts = Parts(load_settings())
    assert parts.configured.engine is Engine.OPENSEARCH
    assert parts.search_cluster.server == SearchServer(
        ("https://search-1:9200", "https://[::1]:9201"),
        "footnote",
        "a,비밀",
        Path("/etc/ca.pem"),
        timeout_s=1.5,
    )
    assert parts.search_cluster.alias == "검색-1"
    assert parts.search_cluster.options == IndexOptions(3, 0)
    assert parts.evaluation_cluster.alias == "검색-1-evaluation"


def test_the_password_for_opensearch_is_a_secret(set_search):
    set_search(url="http://search-1", user="footnote", password="first-half,second-half")
    settings = load_settings()
    assert "first-half,second-half" in secret_values(settings)
    assert "second-half" not in repr(settings)
    assert "second-half" not in repr(Parts(settings).search_cluster)


@pytest.mark.parametrize(
    "url",
    [
        "search-1:9200",
        "ftp://search-1",
        "http://",
        "http://search-1:",
        "http://search-1:99999",
        "http://search-1:port",
        "http://[::1",
        "http://search 1",
        "http://sear\nch-1",
        "http://검색",
        "http://search-1/prefix",
        "http://search-1?pretty",
        "http://search-1?",
        "http://search-1#top",
        "http://search-1, http://",
        "http://search-1 http://search-2",
        ",",
        "p4ssword-by-mistake",
    ],
)
def test_an_invalid_opensearch_address_is_reported_without_the_value(url, set_search):
    set_search(url=url)
    with pytest.raises(ConfigError, match="FOOTNOTE_SEARCH_URL is not valid.*http://") as caught:
        load_settings()
    assert "search-1" not in str(caught.value)
    assert "p4ssword" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://footnote:hunter2x@search-1:9200",
        "https://footnote:hunt#er2x@search-1",
        "https://footnote:hunt/er2x@search-1",
        "https://search-1, https://hunter2x@search-2",
        "https://footnote:hunt,er2x@search-1",
    ],
)
def test_a_password_in_the_opensearch_address_is_refused_but_not_shown(url, set_search):
    set_search(url=url)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert "hunt" not in str(caught.value)
    assert "er2x" not in str(caught.value)
    assert "FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_PASSWORD" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"user": "footnote"}, "both FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_PASSWORD"),
        ({"password": "p4ssword"}, "both FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_PASSWORD"),
        ({"user": "a:b", "password": "p4ssword"}, "FOOTNOTE_SEARCH_USER must not .* colon"),
        (
            {"user": "footnote", "password": "p4ssword", "aws_region": "eu-west-1"},
            "FOOTNOTE_SEARCH_USER and FOOTNOTE_SEARCH_AWS_REGION can't be set together",
        ),
        ({"timeout_s": "0"}, "FOOTNOTE_SEARCH_TIMEOUT_S"),
        ({"timeout_s": "nan"}, "FOOTNOTE_SEARCH_TIMEOUT_S"),
        ({"timeout_s": "inf"}, "FOOTNOTE_SEARCH_TIMEOUT_S"),
        ({"shards": "0"}, "FOOTNOTE_SEARCH_SHARDS"),
        ({"shards": "1025"}, "FOOTNOTE_SEARCH_SHARDS"),
        ({"replicas": "-1"}, "FOOTNOTE_SEARCH_REPLICAS"),
        ({"replicas": "21"}, "FOOTNOTE_SEARCH_REPLICAS"),
    ],
)
def test_an_invalid_opensearch_setting_is_reported_by_its_name(values, message, set_search):
    set_search(**values)
    with pytest.raises(ConfigError, match=message) as caught:
        load_settings()
    assert "p4ssword" not in str(caught.value)


@pytest.mark.parametrize("name", ["footnote", "a" * 200, "1", ".a", "team_1.docs", "ß검색"])
def test_a_name_that_opensearch_allows_is_accepted(name, set_search):
    set_search(index=name)
    assert load_settings().search_index == name


@pytest.mark.parametrize(
    "name",
    [
        *("Footnote", "_a", "-a", "+a", ".", "..", "a" * 201, "검" * 67, "É"),
        *("a b", "a\tb", "a\u200bb", " "),
        *(f"a{char}" for char in '\\/*?"<>|,#:'),
    ],
)
def test_a_name_that_opensearch_rejects_is_reported(name, set_search):
    set_search(index=name)
    with pytest.raises(ConfigError, match="FOOTNOTE_SEARCH_INDEX: .* is not a valid name"):
        load_settings()
