"""The embedding that the settings ask for, and the fingerprint its vectors are kept under."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import SecretStr

from errors import ConfigError
from models.bert_graph import BUILDER_VERSION, WIDTH, Precision
from models.builtin_models import MODELS
from models.builtin_models import default_model as builtin_default
from models.e5 import MultilingualE5
from models.openai_errors import OPENAI_URL, Endpoint

if TYPE_CHECKING:  # slow, and a fingerprint needs none
    from langchain_core.embeddings import Embeddings

Provider = Literal["builtin", "fastembed", "openai"]
MODEL_SETTING = "FOOTNOTE_EMBEDDING_MODEL"
_STORED = ("provider", "model", "precision", "path", "base_url", "dimensions")


@dataclass(frozen=True)
class EmbeddingSpec:
    """Which embedding, where.

    `precision` concerns the built-in model only; `path` is a folder with a fastembed model's
    files, for machines without internet; `base_url`, `dimensions` and `api_key` concern
    OpenAI-compatible servers only.
    """

    provider: Provider = "builtin"
    model: str = field(default_factory=builtin_default)
    precision: Precision = "int8"
    path: str | None = None
    base_url: str | None = None
    dimensions: int | None = None
    api_key: SecretStr | None = field(default=None, repr=False, compare=False)
    timeout_s: float = field(default=60, compare=False)

    def to_json(self) -> str:
        """What must be kept to embed the same way again; never a key or password."""
        stored = {name: getattr(self, name) for name in _STORED}
        if self.base_url:
            stored["base_url"] = self.endpoint().address
        return json.dumps(stored)

    @classmethod
    def from_json(cls, text: str, api_key: SecretStr | None = None) -> "EmbeddingSpec":
        """The specification that `to_json` wrote, with the key put back."""
        return cls(**json.loads(text), api_key=api_key)

    def endpoint(self) -> Endpoint:
        """The server as error messages name it."""
        return Endpoint(
            base_url=self.base_url or OPENAI_URL,
            model=self.model,
            model_setting=MODEL_SETTING,
            key=self.api_key,
            timeout_s=self.timeout_s,
            url_setting="FOOTNOTE_EMBEDDING_BASE_URL or OPENAI_BASE_URL",
            key_setting="FOOTNOTE_EMBEDDING_API_KEY or OPENAI_API_KEY",
        )


def default_model(provider: Provider) -> str:
    """The model where the settings name none; "" for a provider that needs a name."""
    return builtin_default() if provider == "builtin" else ""


def build_embeddings(spec: EmbeddingSpec, cache_dir: Path) -> "Embeddings":
    """The embedding, its model not loaded and nothing sent before the first text.

    Raises:
        ConfigError: The provider, precision or model is unknown, or its name is missing.
    """
    _check(spec)
    if spec.provider == "builtin":
        from models.builtin import BuiltinEmbeddings

        return BuiltinEmbeddings(MODELS[spec.model](cache_dir), cache_dir, precision=spec.precision)
    if spec.provider == "fastembed":
        from models.catalogue import CatalogueEmbeddings, check_name

        check_name(spec.model)
        return CatalogueEmbeddings(spec.model, cache_dir / "fastembed", path=spec.path)
    from models.catalogue import prefixes
    from models.openai_embeddings import ServerEmbeddings

    return ServerEmbeddings(spec.endpoint(), spec.dimensions, prefixes(spec.model))


def fingerprint(spec: EmbeddingSpec) -> str:
    """Text that is equal exactly where vectors may be compared with each other.

    It holds no key, and of the base URL only the host.
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
    """The scripts (of `language.script`) that the model reads; None where it may be any.

    The list of the dense search is to be left out for a question in any other.
    """
    if spec.provider == "builtin":
        model = MODELS.get(spec.model)
        return model.scripts if model else None
    if spec.provider == "fastembed":
        from models.catalogue import catalogue_scripts

        return catalogue_scripts(spec.model)
    return None


def is_calibrated(spec: EmbeddingSpec) -> bool:
    """Whether the coefficients of `chains.answer_decision` were fitted on this model's cosines."""
    return spec.provider == "builtin" and spec.model == MultilingualE5.name


def _passage_prefix(spec: EmbeddingSpec) -> str:
    from models.catalogue import prefixes

    return prefixes(spec.model)[1]


def _check(spec: EmbeddingSpec) -> None:
    if spec.provider not in get_args(Provider):
        raise ConfigError(
            f"FOOTNOTE_EMBEDDING_PROVIDER is {spec.provider!r}; "
            f"it can be {', '.join(get_args(Provider))}."
        )
    if spec.precision not in get_args(Precision):
        raise ConfigError(
            f"FOOTNOTE_EMBEDDING_PRECISION is {spec.precision!r}; "
            f"it can be {' or '.join(get_args(Precision))}."
        )
    if not spec.model:
        raise ConfigError(f"{MODEL_SETTING} is not set. Name the embedding model to use.")
    if spec.provider == "builtin" and spec.model not in MODELS:
        raise ConfigError(
            f"{MODEL_SETTING} is {spec.model!r}, but the built-in embeddings are "
            f"{' and '.join(MODELS)}. For another one set FOOTNOTE_EMBEDDING_PROVIDER to "
            "fastembed or openai."
        )
    if spec.provider == "openai" and not spec.base_url and spec.api_key is None:
        raise ConfigError(
            "Embeddings of provider openai need a key (FOOTNOTE_EMBEDDING_API_KEY or "
            "OPENAI_API_KEY), or the address of a server that asks for none "
            "(FOOTNOTE_EMBEDDING_BASE_URL or OPENAI_BASE_URL)."
        )
