"""The configured reranker."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import SecretStr

from domain.errors import ConfigError
from domain.messages import _
from models.openai_errors import Endpoint

if TYPE_CHECKING:  # slow, and not needed for a search without a reranker
    from langchain_core.cross_encoders import BaseCrossEncoder

RerankProvider = Literal["none", "fastembed", "http"]


@dataclass(frozen=True)
class RerankSpec:
    """Configuration of a reranker.

    `path` is a folder with the files of a fastembed model, for machines without internet; `url`,
    `api_key`, and `timeout_s` apply only to hosted rerankers.
    """

    provider: RerankProvider = "none"
    model: str | None = None
    path: str | None = None
    url: str | None = None
    api_key: SecretStr | None = field(default=None, repr=False)
    timeout_s: float = 10


def build_cross_encoder(spec: RerankSpec, cache_dir: Path) -> "BaseCrossEncoder | None":
    """The configured reranker, if any; the first pair loads the model or sends the first request.

    Raises:
        ConfigError: The model is unknown, or its name or the URL is missing or invalid.
    """
    if spec.provider == "fastembed":
        from models.cross_encoders import DEFAULT_MODEL, CatalogCrossEncoder, check_name

        model = spec.model or DEFAULT_MODEL
        check_name(model)
        return CatalogCrossEncoder(model, cache_dir / "fastembed", path=spec.path)
    if spec.provider == "http":
        from models.cross_encoders import HostedReranker

        return HostedReranker(_endpoint(spec))
    return None


def _endpoint(spec: RerankSpec) -> Endpoint:
    for setting, value in (("URL", spec.url), ("MODEL", spec.model)):
        if not value:
            raise ConfigError(
                _(
                    "FOOTNOTE_RERANK_{setting} is not set: the reranker provider http"
                    " requires the address of a /rerank endpoint and the name of a model."
                ).format(setting=setting)
            )
    return Endpoint(
        base_url=spec.url or "",
        model=spec.model or "",
        model_setting="FOOTNOTE_RERANK_MODEL",
        key=spec.api_key,
        timeout_s=spec.timeout_s,
        url_setting="FOOTNOTE_RERANK_URL",
        key_setting="FOOTNOTE_RERANK_API_KEY",
        usual_end="/rerank",
    )
