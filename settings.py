"""All settings of Footnote, from the environment, `.env`, and the data folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
)

from domain import Normalization, SearchMode
from domain.limit_settings import LimitSettings
from domain.logs import LogFormat, LogLevel, url_password
from domain.messages import _
from domain.setting_values import (
    OPEN_TO_SOURCES,
    PREFIX,
    config_errors,
    explain,
    reject_unknown,
    setting_of,
    variable_of,
    withheld_keys,
)
from domain.sign_in_settings import SignInSettings
from domain.storage_settings import StorageSettings
from domain.web.address_guard import check_private_hosts
from domain.web.host_policy import check_hosts
from domain.web.search_server import check_index_name, check_node_urls, check_sign_in

_Weight = Annotated[float, Field(ge=0, le=100)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Days = Annotated[int, Field(ge=1, le=3650)]
_Candidates = Annotated[int, Field(ge=1, le=1000)]


class Settings(SignInSettings, LimitSettings, StorageSettings, BaseSettings):
    """The settings; the variable of each is `FOOTNOTE_<NAME>` unless it has an alias."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    language: Literal["auto", "en", "ko", "ja"] = Field(
        "auto", description="Language of the pages: en, ko, ja, or auto (follows the browser)"
    )

    allowed_hosts: Annotated[str, AfterValidator(check_hosts)] = Field(
        "",
        description="Hosts, comma-separated, that servers answer to besides localhost; * for any",
    )
    allowed_private_hosts: Annotated[str, AfterValidator(check_private_hosts)] = Field(
        "", description="Private hosts, comma-separated, that sources may be read from"
    )
    max_connections: int = Field(
        512, ge=1, description="Maximum number of open connections of a server, without WebSockets"
    )
    max_connections_per_address: int = Field(
        256, ge=1, description="Maximum number of them from one address, such as that of a proxy"
    )

    log_level: LogLevel = Field(
        "warning", description="Minimum level of log lines: debug, info, warning, or error"
    )
    log_format: LogFormat = Field(
        "text", description="Format of log lines, which are written to stderr: text or json"
    )

    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="API key for the chat model's endpoint"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="Endpoint that implements OpenAI's chat completions (Ollama, vLLM, a gateway)",
    )
    chat_model: str | None = Field(None, description="Name of the chat model")
    chat_temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature")
    chat_max_tokens: int = Field(
        4096, ge=0, description="Maximum length of an answer in tokens, including reasoning"
    )
    chat_timeout_s: float = Field(
        60, gt=0, description="Maximum time to wait for output from the chat model, in seconds"
    )
    chat_answer_timeout_s: float = Field(
        300, gt=0, description="Time limit for one answer, in seconds"
    )
    chat_retries: int = Field(0, ge=0, le=5, description="Number of retries after a failed request")

    chat_price_input: float | None = Field(
        None, ge=0, description="Price of a million input tokens of the chat model"
    )
    chat_price_output: float | None = Field(
        None, ge=0, description="Price of a million output tokens of the chat model"
    )
    currency: str = Field("USD", min_length=1, max_length=8, description="Currency of all prices")

    embedding_provider: Literal["builtin", "fastembed", "openai"] = Field(
        "builtin", description="Embedding provider: builtin (on this machine), fastembed, or openai"
    )
    embedding_model: str | None = Field(None, description="Name of the embedding model")
    embedding_precision: Literal["int8", "fp32"] = Field(
        "int8", description="Precision of the built-in embedding: int8 (smaller) or fp32"
    )
    embedding_path: str | None = Field(None, description="Folder with a fastembed model")
    embedding_base_url: str | None = Field(None, description="Endpoint of the openai provider")
    embedding_api_key: SecretStr | None = Field(None, description="API key for that endpoint")
    embedding_dimensions: int | None = Field(
        None,
        ge=1,
        description="Number of vector dimensions, for models that can shorten their vectors",
    )

    embedding_price: float = Field(
        0, ge=0, description="Price of embedding a million tokens, used in dry-run estimates"
    )

    passage_chars: int = Field(
        1000, ge=100, le=20_000, description="Maximum length of a passage in characters"
    )
    passage_overlap_chars: int = Field(
        150, ge=0, description="Overlap between consecutive passages in characters"
    )
    max_file_mb: int = Field(100, ge=1, description="Maximum file size in MB")
    ocr_languages: str = Field(
        "eng+kor+jpn",
        pattern=r"^[A-Za-z0-9_/]+(\+[A-Za-z0-9_/]+)*$",
        description="Languages of text in pictures, as Tesseract language codes",
    )

    deleted_retention_days: _Days = Field(
        30, description="Days until a deleted conversation is removed permanently"
    )
    conversation_days: _Days | None = Field(
        None, description="Days without a question until a conversation is removed"
    )
    audit_days: _Days = Field(365, description="Days until events leave the audit log")

    backup_dir: Path | None = Field(None, description="Folder for scheduled backups")
    backup_interval_hours: float = Field(24, ge=0.1, le=8760, description="Hours between backups")
    backup_keep: int = Field(7, ge=1, description="Number of scheduled backups to keep")

    pages_metrics_port: int | None = Field(
        None, ge=1, le=65535, description="Loopback port for metrics of the pages"
    )
    worker_metrics_port: int | None = Field(
        None, ge=1, le=65535, description="Loopback port for metrics of the worker"
    )

    encryption_key: SecretStr | None = Field(
        None, description="Keys, comma-separated, that encrypt the stored secrets"
    )
    google_api_url: str = Field(
        "https://www.googleapis.com", description="Base URL of the Google API"
    )

    search_url: Annotated[str, AfterValidator(check_node_urls)] = Field(
        "", description="Addresses, comma-separated, of the nodes of an OpenSearch cluster"
    )
    search_user: str = Field("", description="User name at OpenSearch")
    search_password: SecretStr | None = Field(None, description="Password of that user")
    search_ca_file: Path | None = Field(
        None, description="Certificates, in PEM format, that sign those of the OpenSearch nodes"
    )
    search_aws_region: str = Field("", description="AWS region of an Amazon OpenSearch domain")
    search_timeout_s: float = Field(
        30, gt=0, le=3600, description="Time limit of a request to OpenSearch, in seconds"
    )
    search_index: Annotated[str, AfterValidator(check_index_name)] = Field(
        "footnote", description="Name of the alias in OpenSearch, and prefix of its indexes"
    )
    search_shards: int = Field(1, ge=1, le=1024, description="Number of shards of a new index")
    search_replicas: int = Field(1, ge=0, le=20, description="Number of copies of each shard")
    search_analyzer: str = Field(
        "", description="Analyzer of OpenSearch that also indexes the texts, for other programs"
    )

    search_mode: SearchMode = Field(
        SearchMode.CONVEX, description="Default search mode (see docs/retrieval.md)"
    )
    top_k: int = Field(5, ge=1, le=50, description="Number of passages given to the answerer")
    candidates: _Candidates = Field(
        100, description="Number of candidates from each ranked list before fusion"
    )
    dense_weight: float | None = Field(
        None, ge=0, le=1, description="Weight of the dense list in convex mode"
    )
    normalisation: Normalization = Field(
        Normalization.MIN_MAX,
        description="How scores are scaled before they are combined: min-max or z-score",
    )
    score_threshold: _Share = Field(
        0.3, description="Minimum score in similarity_score_threshold mode"
    )
    rerank_provider: Literal["none", "fastembed", "http"] = Field(
        "none", description="Reranker: none, fastembed, or http"
    )
    rerank_model: str | None = Field(None, description="Name of the reranking model")
    rerank_path: str | None = Field(None, description="Folder with a fastembed reranker")
    rerank_url: str | None = Field(None, description="URL of the http reranker")
    rerank_api_key: SecretStr | None = Field(None, description="API key for the http reranker")
    rerank_depth: int = Field(50, ge=1, le=1000, description="Number of passages to rerank")
    rerank_budget_s: float = Field(
        10, gt=0, le=600, description="Time budget for reranking, in seconds"
    )

    catalogue_hybrid_weight: _Weight = Field(
        1.0, description="Weight of keyword and vector search in a place's score"
    )
    catalogue_confidence_weight: _Weight = Field(
        0.3, description="Weight of a place's rating, which counts more with more ratings"
    )
    catalogue_type_weight: _Weight = Field(
        0.5, description="Weight of a match between a place's type and the requested types"
    )
    catalogue_cross_encoder_weight: _Weight = Field(
        2.0, description="Weight of the reranker's score, if a reranker is configured"
    )
    catalogue_aspects_weight: _Weight = Field(
        1.0, description="Weight of reviewers' praise and criticism, if no reranker is configured"
    )
    catalogue_dense_weight: _Share = Field(
        0.9, description="Share of vector search in the hybrid score; the rest is keyword search"
    )
    catalogue_candidates: _Candidates = Field(
        60, description="Number of candidate places from keyword search, and from vector search"
    )
    catalogue_top_k: int = Field(
        20, ge=1, le=100, description="Maximum number of places in a result"
    )

    multi_query: int = Field(
        0, ge=0, le=5, description="Number of rephrased questions that are also searched"
    )
    window_passages: int = Field(
        0,
        ge=0,
        le=5,
        description="Number of neighboring passages to add before and after each retrieved passage",
    )
    history_tokens: int = Field(
        2000, ge=0, description="Maximum number of tokens of conversation history in a prompt"
    )
    passages_tokens: int = Field(
        6000, ge=100, description="Maximum number of tokens of passages in a prompt"
    )

    agent_model_calls: int = Field(
        8, ge=1, le=50, description="Maximum number of chat model calls by the agent for one answer"
    )
    agent_tool_calls: int = Field(
        12, ge=1, le=100, description="Maximum number of tool calls by the agent for one answer"
    )
    agent_mcp_servers: Path | None = Field(
        None, description="JSON file of MCP servers and tools for the agent (see docs/agents.md)"
    )

    api_requests_per_minute: int = Field(
        600, ge=1, description="Maximum requests per minute for each API key in each process"
    )
    api_answers: int = Field(
        64, ge=1, le=1000, description="Maximum number of concurrent answers in each API process"
    )
    api_cors_origins: str = Field(
        "", description="Origins, comma-separated, whose web pages may call the API from a browser"
    )

    _stored_names: frozenset[str] = PrivateAttr(frozenset())

    @property
    def stored_names(self) -> frozenset[str]:
        """The settings whose values come from the data folder, where pages write them."""
        return self._stored_names

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, text: object) -> object:
        return text.lower() if isinstance(text, str) else text

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.passage_overlap_chars >= self.passage_chars:
            raise ValueError(
                _("FOOTNOTE_PASSAGE_OVERLAP_CHARS must be below FOOTNOTE_PASSAGE_CHARS")
            )
        check_sign_in(self.search_user, bool(self.search_password), self.search_aws_region)
        has_model = self.openai_base_url or (self.openai_api_key and self.chat_model)
        if self.multi_query and not has_model:
            raise ValueError(
                _(
                    "FOOTNOTE_MULTI_QUERY needs a chat model: set FOOTNOTE_CHAT_MODEL and"
                    " OPENAI_API_KEY or OPENAI_BASE_URL"
                )
            )
        return self


def load_settings(stored: Mapping[str, object] | None = None, **overrides: object) -> Settings:
    """Load the settings from the environment.

    Args:
        stored: Values of the data folder, used for settings that the environment does not set.
        overrides: Values that take precedence over the environment.

    Raises:
        ConfigError: A variable is unknown, a value is out of range, or a file can't be read; the
            message names the variable or the file.
    """
    with config_errors():
        names = (name for source in _sources() for name in source.env_vars)
        reject_unknown(names, map(variable_of, Settings.model_fields))
        merged = _merge(stored or {}, overrides)
        settings = Settings(**merged)  # type: ignore[arg-type]
        used = (name for name, one in (stored or {}).items() if merged.get(name) is one)
        settings._stored_names = frozenset(used)
        return settings


def invalid_values(stored: Mapping[str, object], **overrides: object) -> Mapping[str, str]:
    """The messages about stored values that are invalid by themselves, by setting.

    Raises:
        ConfigError: See `load_settings`.
    """
    with config_errors():
        try:
            Settings(**_merge(stored, overrides))  # type: ignore[arg-type]
        except ValidationError as error:
            problems = [dict(problem) for problem in error.errors()]
            messages = {setting_of(problem): explain(problem) for problem in problems}
            return {name: message for name, message in messages.items() if name in stored}
        return {}


def environment_values() -> Mapping[str, str]:
    """The texts of the settings that the environment, or else `.env`, sets.

    Raises:
        ConfigError: The file `.env` can't be read.
    """
    with config_errors():
        environment, file = _sources()
    texts = {**file.env_vars, **environment.env_vars}
    found = {name: texts.get(variable_of(name).lower()) for name in Settings.model_fields}
    return {name: text for name, text in found.items() if text}


def _merge(stored: Mapping[str, object], overrides: Mapping[str, object]) -> dict[str, object]:
    fixed = environment_values() if stored else {}
    used = {name: one for name, one in stored.items() if name not in fixed}
    return {**used, **withheld_keys(used, fixed), **overrides}


def secret_variable(name: str) -> str:
    """The value of a variable from the environment or else `.env`; "" if it is not set.

    Both are read at each call, so a secret changed in `.env` takes effect immediately.

    Raises:
        ValueError: The name does not begin with `OPEN_TO_SOURCES`.
    """
    if not name.startswith(OPEN_TO_SOURCES):
        raise ValueError(name)
    values = (source.env_vars.get(name.lower()) for source in _sources())
    return next((value for value in values if value), "")


def secret_values(settings: Settings) -> list[str]:
    """All secrets in the settings and the environment, which logs must not show."""
    fields = [getattr(settings, name) for name in Settings.model_fields]
    secrets = [field.get_secret_value() for field in fields if isinstance(field, SecretStr)]
    urls = [field for field in fields if isinstance(field, str) and "://" in field]
    variables = [item for source in _sources() for item in source.env_vars.items()]
    return [
        *(key for secret in secrets for key in (secret, *secret.split(","))),
        *(password for url in urls if (password := url_password(url))),
        *(text for name, text in variables if name.upper().startswith(OPEN_TO_SOURCES) and text),
    ]


def _sources() -> tuple[EnvSettingsSource, DotEnvSettingsSource]:
    return EnvSettingsSource(Settings), DotEnvSettingsSource(Settings)
