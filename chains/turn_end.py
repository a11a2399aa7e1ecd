"""Where a chat model writes past the end of its turn: markers of its chat template as text.

A server that applies a wrong template, or none, gives them out as words of the answer, and what
follows them is a dialogue that the model makes up.
"""

import re
from collections.abc import Iterable

_MARKERS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|user|>",
    "<|assistant|>", "<|system|>", "<|start_header_id|>", "<|end_header_id|>", "<|begin_of_text|>",
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "</s>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
)  # fmt: skip
_LONGEST = max(map(len, _MARKERS))


class TurnEnd:
    """Lets an answer pass piece by piece, up to the first marker of a template.

    Markers before the first word are left out. What the sources or the question say is no marker:
    a document may be about templates.
    """

    def __init__(self, known_texts: Iterable[str]) -> None:
        """Args: everything that the answer may rightly quote."""
        texts = list(known_texts)
        markers = [one for one in _MARKERS if not any(one in text for text in texts)]
        self._marker = re.compile("|".join(map(re.escape, markers)) or r"(?!)")
        self._beginnings = {one[:length] for one in markers for length in range(1, len(one))}
        self._held = ""
        self._begun = False
        self.reached = False

    def read(self, piece: str) -> str:
        """What of the answer is certain now; "" after its end, when `reached` is True."""
        if self.reached:
            return ""
        self._held += piece
        text = self._before_marker()
        if not self.reached:
            held = self._possible_marker()
            certain = len(self._held) - held
            text, self._held = self._held[:certain], self._held[certain:]
        self._begun = self._begun or bool(text.strip())
        return text

    def close(self) -> str:
        """What was held back because it could have become a marker."""
        held, self._held = self._held, ""
        return "" if self.reached else held

    def _before_marker(self) -> str:
        """The text before a marker that ends the answer; drops those that begin it."""
        while found := self._marker.search(self._held):
            before = self._held[: found.start()]
            if self._begun or before.strip():
                self.reached = True
                self._held = ""
                return before.rstrip()
            self._held = self._held[found.end() :]
        return ""

    def _possible_marker(self) -> int:
        """How many characters at the end may be the beginning of a marker."""
        most = min(_LONGEST, len(self._held))
        lengths = range(most, 0, -1)
        return next((n for n in lengths if self._held[-n:] in self._beginnings), 0)
