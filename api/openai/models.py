"""The models that the library can be asked as."""

from typing import Literal

from pydantic import BaseModel, Field

from api.openai.errors import ModelNotFoundError
from bootstrap import Services
from domain import EXTRACTIVE

CHAIN = "footnote"
"""One search for the question, made to stand alone."""
AGENT = "footnote-agent"
"""An agent searches, in as many steps as it wants; there is none without a chat model."""


class Model(BaseModel):
    """A model."""

    id: str = Field(description="Its name, by which it is asked", examples=[CHAIN])
    object: Literal["model"] = Field("model", description="Kind of the object")
    created: int = Field(0, description="Always 0: when it was made is not known")
    owned_by: str = Field("footnote", description="Whose it is: always the same")


class ModelList(BaseModel):
    """The models that there are."""

    object: Literal["list"] = Field("list", description="Kind of the object")
    data: list[Model] = Field(description="Those that answer, then the one that embeds")


def chat_models(services: Services) -> list[str]:
    """The models that answer."""
    return [CHAIN] if services.chat.model_label == EXTRACTIVE else [CHAIN, AGENT]


def all_models(services: Services) -> list[str]:
    """The models that answer, and the one that embeds."""
    return [*chat_models(services), services.embedding.model]


def require_model(model: str, known: list[str]) -> None:
    """Refuse a model that is not among those.

    Raises:
        ModelNotFoundError: It is not.
    """
    if model not in known:
        raise ModelNotFoundError(model, known)
