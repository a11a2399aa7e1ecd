import pytest

from bootstrap.parts import Parts
from errors import ConfigError
from services.catalog.place_scores import PartWeights
from services.catalog.place_search import EngineOptions
from settings import Settings, load_settings, secret_variable


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
