"""Calls of a chat model whose replies are of use only as a whole, and their tags."""

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from domain import CUT_SHORT_REASONS


def whole_text(reply: BaseMessage | str) -> str:
    """The text of the reply; "" where it was cut short, for half a question asks something else."""
    if isinstance(reply, str):
        return reply
    is_cut = reply.response_metadata.get("finish_reason") in CUT_SHORT_REASONS
    return "" if is_cut else str(reply.text)


def tagged(config: RunnableConfig, tag: str) -> RunnableConfig:
    """The config for runs with that tag."""
    return merge_configs(config, {"tags": [tag]})
