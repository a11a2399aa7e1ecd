"""What a chat model replies where only a whole reply is of use."""

from langchain_core.messages import BaseMessage

from domain import CUT_SHORT_REASONS


def whole_text(reply: BaseMessage | str) -> str:
    """The text of the reply; "" where it was cut short, for half a question asks something else."""
    if isinstance(reply, str):
        return reply
    is_cut = reply.response_metadata.get("finish_reason") in CUT_SHORT_REASONS
    return "" if is_cut else str(reply.text)
