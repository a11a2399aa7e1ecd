"""All settings of Footnote, read once from the environment and `.env`."""

from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
)

from domain import Normalization, SearchMode
from domain.logs import LogFormat, LogLevel
from domain.messages import _, join_messages
from domain.web.host_policy import parse_hosts
from errors import ConfigError

_PREFIX = "FOOTNOTE_"
OPEN_TO_SOURCES = "FOOTNOTE_SECRET_"
"""Prefix of the only environment variables that users may reference as a source's secret."""

ALLOWED_HOSTS = f"{_PREFIX}ALLOWED_HOSTS"
"""The name of the variable, for messages that tell users to set it."""

_OF_THE_TESTS = {"FOOTNOTE_EVAL_DATA", "FOOTNOTE_SCREENSHOTS"}
_OF_CLIENTS = {"FOOTNOTE_URL", "FOOTNOTE_API_KEY"}
"""Variables that docs/api.md defines for API clients, which often run in the same shell."""


class Settings(BaseSettings):
    """The settings; the variable of each is `FOOTNOTE_<NAME>` unless it has an alias."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data_dir: Path = Field(Path("data"), description="Folder that holds everything Footnote stores")
    database_url: str | None = Field(
        None, description="SQLAlchemy URL of the ledger; a SQLite file in the data folder if unset"
    )
    language: Literal["auto", "en", "ko", "ja"] = Field(
        "auto", description="Of the pages: en, ko, ja, or auto for that of the reader's browser"
    )

    allowed_hosts: str = Field(
        "",
        description="Hosts, comma-separated, that servers answer to beside localhost; * for any",
    )

    log_level: LogLevel = Field(
        "warning", description="Minimum level of log lines: debug, info, warning, or error"
    )
    log_format: LogFormat = Field("text", description="Format of log lines on stderr: text or json")

    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="Key of the chat model's endpoint"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="Endpoint that speaks OpenAI's chat completions (Ollama, vLLM, a gateway)",
    )
    chat_model: str | None = Field(
        None,
        description="Name of the chat model; if unset, the only one that OPENAI_BASE_URL has",
    )
    chat_temperature: float | None = Field(
        None, ge=0, le=2, description="Sampling temperature; the server's own if unset"
    )
    chat_max_tokens: int = Field(
        4096, ge=0, description="Longest answer, in tokens, reasoning included; 0: the server's own"
    )
    chat_timeout_s: float = Field(60, gt=0, description="Longest silence of the chat model")
    chat_answer_timeout_s: float = Field(
        300, gt=0, description="Longest time for one answer, in seconds; then it is incomplete"
    )
    chat_retries: int = Field(
        0, ge=0, le=5, description="Attempts after a failed one; each may wait two minutes"
    )

    chat_price_input: float | None = Field(
        None, ge=0, description="What a million tokens cost that the chat model reads"
    )
    chat_price_output: float | None = Field(
        None, ge=0, description="What a million tokens cost that the chat model writes"
    )
    currency: str = Field("USD", min_length=1, max_length=8, description="Currency of these prices")

    embedding_provider: Literal["builtin", "fastembed", "openai"] = Field(
        "builtin", description="builtin (on this machine), fastembed or openai"
    )
    embedding_model: str | None = Field(
        None,
        description="Name of the embedding model; built in are multilingual-e5-small (the default "
        "where its package can be installed) and all-MiniLM-L6-v2 (English, faster)",
    )
    embedding_precision: Literal["int8", "fp32"] = Field(
        "int8", description="Of the built-in embedding: int8 (smaller) or fp32"
    )
    embedding_path: str | None = Field(
        None, description="Folder with a fastembed model's files, for machines without internet"
    )
    embedding_base_url: str | None = Field(
        None, description="Endpoint of openai embeddings; OPENAI_BASE_URL if unset"
    )
    embedding_api_key: SecretStr | None = Field(
        None, description="Key of that endpoint; OPENAI_API_KEY if unset"
    )
    embedding_dimensions: int | None = Field(
        None, ge=1, description="Length of the vectors, for models that can shorten them"
    )

    embedding_price: float = Field(
        0, ge=0, description="What a million tokens cost to embed; dry runs estimate with it"
    )

    passage_chars: int = Field(1000, ge=100, le=20_000, description="Longest passage")
    passage_overlap_chars: int = Field(150, ge=0, description="Characters two passages share")
    max_file_mb: int = Field(100, ge=1, description="Larger files are skipped, with a reason")
    ocr_languages: str = Field(
        "eng+kor+jpn",
        pattern=r"^[A-Za-z0-9_/]+(\+[A-Za-z0-9_/]+)*$",
        description="Of text in pictures, as Tesseract names them; none leaves pictures unread",
    )

    encryption_key: SecretStr | None = Field(
        None, description="Keys, comma-separated, that encrypt sources' secrets; generated if unset"
    )
    google_api_url: str = Field(
        "https://www.googleapis.com", description="Address of Google's API; a gateway's, if any"
    )

    search_mode: SearchMode = Field(SearchMode.CONVEX, description="How passages are searched")
    top_k: int = Field(5, ge=1, le=50, description="Passages put before the answerer")
    candidates: int = Field(100, ge=1, le=1000, description="Depth of each list before fusion")
    dense_weight: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Share of the dense list in the convex combination (default: by language)",
    )
    normalisation: Normalization = Field(
        Normalization.MIN_MAX, description="Scaling of scores before they are combined"
    )
    score_threshold: float = Field(
        0.3, ge=0, le=1, description="Least relevance in mode similarity_score_threshold"
    )
    rerank_provider: Literal["none", "fastembed", "http"] = Field(
        "none", description="Reranker of what was found: none, fastembed or http"
    )
    rerank_model: str | None = Field(
        None, description="Its name; Xenova/ms-marco-MiniLM-L-6-v2 for fastembed if unset"
    )
    rerank_path: str | None = Field(
        None, description="Folder with a fastembed reranker's files, for machines without internet"
    )
    rerank_url: str | None = Field(
        None, description="Address that rerankers of provider http are asked at; ends in /rerank"
    )
    rerank_api_key: SecretStr | None = Field(None, description="Key of that address")
    rerank_depth: int = Field(50, ge=1, le=1000, description="Passages the reranker scores")
    rerank_budget_s: float = Field(
        10, gt=0, le=600, description="Longest time for it; then the order without it is kept"
    )

    catalogue_hybrid_weight: float = Field(
        1.0, ge=0, le=100, description="Of words and vectors in the score of a catalog's places"
    )
    catalogue_confidence_weight: float = Field(
        0.3, ge=0, le=100, description="Of the rating there, trusted more the more often rated"
    )
    catalogue_type_weight: float = Field(
        0.5, ge=0, le=100, description="Of being of a type that is asked for there"
    )
    catalogue_cross_encoder_weight: float = Field(
        2.0, ge=0, le=100, description="Of the reranker's judgement there, where one is set"
    )
    catalogue_aspects_weight: float = Field(
        1.0, ge=0, le=100, description="Of what reviewers praise there, where no reranker judges"
    )
    catalogue_dense_weight: float = Field(
        0.9, ge=0, le=1, description="Share of the vectors there, against the words"
    )
    catalogue_candidates: int = Field(
        60, ge=1, le=1000, description="Places that words and vectors each put up to be judged"
    )
    catalogue_top_k: int = Field(20, ge=1, le=100, description="Places that are found at most")

    multi_query: int = Field(
        0, ge=0, le=5, description="Other wordings searched beside a question; by the chat model"
    )
    window_passages: int = Field(
        0, ge=0, le=5, description="Neighbors on either side that a passage is widened by"
    )
    history_tokens: int = Field(2000, ge=0, description="Most of the conversation that is sent")
    passages_tokens: int = Field(6000, ge=100, description="Most of the passages that is sent")

    agent_model_calls: int = Field(
        8, ge=1, le=50, description="Most times the agent may ask the chat model for one answer"
    )
    agent_tool_calls: int = Field(
        12, ge=1, le=100, description="Most tools the agent may call for one answer"
    )
    agent_mcp_servers: Path | None = Field(
        None, description="JSON file that names MCP servers, and which of their tools it may use"
    )

    api_requests_per_minute: int = Field(
        600, ge=1, description="Most requests of one API key in a minute, in each process"
    )
    api_answers: int = Field(
        64, ge=1, le=1000, description="Most answers that one process of the API writes at once"
    )
    api_cors_origins: str = Field(
        "", description="Origins, comma-separated, whose web pages may call the API from a browser"
    )

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, text: object) -> object:
        return text.lower() if isinstance(text, str) else text

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, text: str) -> str:
        parse_hosts(text.split(","), ALLOWED_HOSTS)
        return text

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.passage_overlap_chars >= self.passage_chars:
            raise ValueError(
                _("FOOTNOTE_PASSAGE_OVERLAP_CHARS must be below FOOTNOTE_PASSAGE_CHARS")
            )
        has_model = self.openai_base_url or (self.openai_api_key and self.chat_model)
        if self.multi_query and not has_model:
            raise ValueError(
                _(
                    "FOOTNOTE_MULTI_QUERY needs a chat model: set FOOTNOTE_CHAT_MODEL and"
                    " OPENAI_API_KEY or OPENAI_BASE_URL"
                )
            )
        return self


def load_settings(**overrides: object) -> Settings:
    """Load the settings from the environment; `overrides` take precedence.

    Raises:
        ConfigError: A variable is unknown, a value is out of range, or a file can't be read; the
            message names the variable or the file.
    """
    try:
        _reject_unknown()
        return Settings(**overrides)  # type: ignore[arg-type]  # pydantic validates them
    except ValidationError as error:
        raise ConfigError(join_messages(_explain(problem) for problem in error.errors())) from error
    except UnicodeDecodeError as error:
        raise ConfigError(_("The file .env is not in UTF-8: save it as UTF-8.")) from error
    except OSError as error:
        raise ConfigError(
            _("The file .env can't be read ({strerror}): make it readable, or remove it.").format(
                strerror=error.strerror
            )
        ) from error


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
        *(key for secret in secrets for key in secret.split(",")),
        *(password for url in urls if (password := _password(url))),
        *(text for name, text in variables if name.upper().startswith(OPEN_TO_SOURCES) and text),
    ]


def _password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:  # not a URL; its user reports the error
        return ""


def _reject_unknown() -> None:
    """Reject unknown variables: a misspelled one would be ignored silently."""
    valid = {_variable(name) for name in Settings.model_fields}
    names = {name.upper() for source in _sources() for name in source.env_vars}
    ours = {name for name in names if name.startswith(_PREFIX)}
    others = valid | _OF_THE_TESTS | _OF_CLIENTS
    unknown = [name for name in ours - others if not name.startswith(OPEN_TO_SOURCES)]
    if unknown:
        messages = [
            _("{name} is not a setting{suggestion}").format(
                name=name, suggestion=_suggestion(name, valid)
            )
            for name in sorted(unknown)
        ]
        raise ConfigError(join_messages(messages))


def _sources() -> tuple[EnvSettingsSource, DotEnvSettingsSource]:
    return EnvSettingsSource(Settings), DotEnvSettingsSource(Settings)


def _suggestion(typed: str, names: set[str]) -> str:
    # Compared without the common prefix, which would make all names similar.
    variables = {name.removeprefix(_PREFIX): name for name in names}
    nearest = get_close_matches(typed.removeprefix(_PREFIX), variables, n=1)
    return (
        _(": did you mean {variables}?").format(variables=variables[nearest[0]])
        if nearest
        else _(": .env.example has them all")
    )


def _variable(name: str) -> str:
    return name.upper() if name.startswith("openai_") else f"{_PREFIX}{name.upper()}"


def _explain(problem: object) -> str:
    assert isinstance(problem, dict)  # noqa: S101  # pydantic's ErrorDetails
    name = "_".join(str(part) for part in problem["loc"]).lower()
    if not name:
        return str(problem["msg"]).removeprefix("Value error, ")
    return _("{variable}: {msg} (it is {input})").format(
        variable=_variable(name), msg=problem["msg"], input=repr(problem["input"])
    )
