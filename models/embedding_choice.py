"""The configured embedding model, and the fingerprint of its vectors."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import SecretStr

from domain.errors import ConfigError
from domain.messages import _
from domain.web.address_guard import AddressGuard
from models.bert_graph import BUILDER_VERSION, WIDTH, Precision
from models.builtin_models import MODELS, MultilingualE5
from models.builtin_models import default_model as builtin_default
from models.openai_errors import OPENAI_URL, Endpoint

if TYPE_CHECKING:  # slow, and not needed for a fingerprint
    from langchain_core.embeddings import Embeddings

Provider = Literal["builtin", "fastembed", "openai"]
MODEL_SETTING = "FOOTNOTE_EMBEDDING_MODEL"
_STORED = ("provider", "model", "precision", "path", "base_url", "dimensions")


@dataclass(frozen=True)
class EmbeddingSpec:
    """Configuration of an embedding.

    `precision` applies only to the built-in model; `path` is a folder with the files of a fastembed
    model, for machines without internet; `base_url`, `dimensions`, and `api_key` apply only to
    OpenAI-compatible servers. `is_earlier_server` is for an index whose server is no longer
    configured, so that its key is unknown. `guard` permits the addresses of the server; None
    permits all.
    """

    provider: Provider = "builtin"
    model: str = field(default_factory=builtin_default)
    precision: Precision = "int8"
    path: str | None = None
    base_url: str | None = None
    dimensions: int | None = None
    api_key: SecretStr | None = field(default=None, repr=False, compare=False)
    timeout_s: float = field(default=60, compare=False)
    is_earlier_server: bool = field(default=False, compare=False)
    guard: AddressGuard | None = field(default=None, compare=False)

    def stored(self) -> dict[str, Any]:
        """The options needed to embed in the same way again, without keys and passwords."""
        address = self.endpoint().address if self.base_url else self.base_url
        return {name: getattr(self, name) for name in _STORED} | {"base_url": address}

    def endpoint(self) -> Endpoint:
        """The server, as named in error messages."""
        return Endpoint(
            base_url=self.base_url or OPENAI_URL,
            model=self.model,
            model_setting=MODEL_SETTING,
            key=self.api_key,
            timeout_s=self.timeout_s,
            url_setting="FOOTNOTE_EMBEDDING_BASE_URL or OPENAI_BASE_URL",
            key_setting="FOOTNOTE_EMBEDDING_API_KEY or OPENAI_API_KEY",
            is_earlier=self.is_earlier_server,
            guard=self.guard,
        )


def default_model(provider: Provider) -> str:
    """The model if the settings name none; "" for a provider that needs a name."""
    return builtin_default() if provider == "builtin" else ""


def build_embeddings(spec: EmbeddingSpec, cache_dir: Path) -> "Embeddings":
    """Create the embedding; the first text loads the model or sends the first request.

    Raises:
        ConfigError: The provider, precision, or model is unknown, or the model's name is missing.
    """
    _check(spec)
    if spec.provider == "builtin":
        from models.builtin import BuiltinEmbeddings

        return BuiltinEmbeddings(MODELS[spec.model](cache_dir), cache_dir, precision=spec.precision)
    if spec.provider == "fastembed":
        from models.embedding_models import CatalogEmbeddings, check_name

        check_name(spec.model)
        return CatalogEmbeddings(spec.model, cache_dir / "fastembed", path=spec.path)
    from models.embedding_models import ServerEmbeddings, prefixes

    return ServerEmbeddings(spec.endpoint(), spec.dimensions, prefixes(spec.model))


def fingerprint(spec: EmbeddingSpec) -> str:
    """A string that is equal for two specifications if and only if their vectors are comparable.

    It contains no key, and only the host of the base URL.
    """
    if spec.provider == "builtin":
        model = MODELS.get(spec.model)
        weights = (model.sha256[:12], model.version) if model else ("unknown", "")
        parts = (*weights, f"graph={BUILDER_VERSION}", spec.precision, f"dim={WIDTH}")
        made = ";".join(filter(None, parts))
    elif spec.provider == "fastembed":
        made = f"passage={_passage_prefix(spec)!r}"
    else:
        made = f"{spec.endpoint().host};dim={spec.dimensions or 'native'}"
        if prefix := _passage_prefix(spec):
            made += f";passage={prefix!r}"
    return f"{spec.provider};{spec.model};{made};unit"


def known_scripts(spec: EmbeddingSpec) -> frozenset[str] | None:
    """The scripts that the model reads (see `domain.language.script`); None for all.

    Questions in other scripts are not searched by meaning.
    """
    if spec.provider == "builtin":
        model = MODELS.get(spec.model)
        return model.scripts if model else None
    if spec.provider == "fastembed":
        from models.embedding_models import catalog_scripts

        return catalog_scripts(spec.model)
    return None


def is_calibrated(spec: EmbeddingSpec) -> bool:
    """Whether the coefficients of the answer decision were fitted on this model's cosines."""
    return spec.provider == "builtin" and spec.model == MultilingualE5.name


def _passage_prefix(spec: EmbeddingSpec) -> str:
    from models.embedding_models import prefixes

    return prefixes(spec.model)[1]


def _check(spec: EmbeddingSpec) -> None:
    if spec.provider not in get_args(Provider):
        raise ConfigError(
            _("FOOTNOTE_EMBEDDING_PROVIDER must be {provider2}, not {provider}.").format(
                provider=repr(spec.provider), provider2=", ".join(get_args(Provider))
            )
        )
    if spec.precision not in get_args(Precision):
        raise ConfigError(
            _("FOOTNOTE_EMBEDDING_PRECISION must be {precision2}, not {precision}.").format(
                precision=repr(spec.precision), precision2=" or ".join(get_args(Precision))
            )
        )
    if not spec.model:
        raise ConfigError(
            _(
                "FOOTNOTE_EMBEDDING_MODEL is not set. Set it to the name of the embedding model"
                " to use."
            )
        )
    if spec.provider == "builtin" and spec.model not in MODELS:
        raise ConfigError(
            _(
                "FOOTNOTE_EMBEDDING_MODEL is {model}, but the built-in embedding models are"
                " {models}. To use another one, set FOOTNOTE_EMBEDDING_PROVIDER to fastembed"
                " or openai."
            ).format(model=repr(spec.model), models=" and ".join(MODELS))
        )
    if spec.provider == "openai" and not spec.base_url and spec.api_key is None:
        raise ConfigError(
            _(
                "The embedding provider openai requires an API key"
                " (FOOTNOTE_EMBEDDING_API_KEY or OPENAI_API_KEY), or the address of a server"
                " that needs none (FOOTNOTE_EMBEDDING_BASE_URL or OPENAI_BASE_URL)."
            )
        )
