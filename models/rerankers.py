"""The reranker that the settings ask for."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import SecretStr

from errors import ConfigError
from models.openai_errors import Endpoint

if TYPE_CHECKING:  # slow, and a search without a reranker needs none
    from langchain_core.cross_encoders import BaseCrossEncoder

RerankProvider = Literal["none", "fastembed", "http"]


@dataclass(frozen=True)
class RerankSpec:
    """Which reranker, where.

    `path` is a folder with a fastembed model's files, for machines without internet; `url`,
    `api_key` and `timeout_s` concern hosted rerankers only.
    """

    provider: RerankProvider = "none"
    model: str | None = None
    path: str | None = None
    url: str | None = None
    api_key: SecretStr | None = field(default=None, repr=False)
    timeout_s: float = 10


def build_cross_encoder(spec: RerankSpec, cache_dir: Path) -> "BaseCrossEncoder | None":
    """The reranker, its model not loaded and nothing sent before the first pair; None for none.

    Raises:
        ConfigError: The model is unknown, its name or the URL missing or no address.
    """
    if spec.provider == "fastembed":
        from models.cross_encoder import DEFAULT_MODEL, CatalogueCrossEncoder, check_name

        model = spec.model or DEFAULT_MODEL
        check_name(model)
        return CatalogueCrossEncoder(model, cache_dir / "fastembed", path=spec.path)
    if spec.provider == "http":
        from models.hosted_reranker import HostedReranker

        return HostedReranker(_endpoint(spec))
    return None


def _endpoint(spec: RerankSpec) -> Endpoint:
    for setting, value in (("URL", spec.url), ("MODEL", spec.model)):
        if not value:
            raise ConfigError(
                f"FOOTNOTE_RERANK_{setting} is not set: a reranker of provider http needs the "
                "address of its /rerank and the name of its model."
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
