"""Text and JSON of models and tools, made such as can be stored and sent on."""

import json
import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Half a character, which a careless server sends, can be stored nowhere: U+FFFD for each."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def storable_json(value: Any) -> Any:
    """A copy with such text; what JSON does not know, NaN and infinity too, becomes a string."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return json.loads(storable(written), parse_constant=str)
