"""Where the vectors of multilingual-e5-small lie by language, and their distance from there.

The model puts all texts of a language close together: a Korean question is nearer to any Korean
passage (cosine .79 on average) than to most English ones (.71), whatever they say, so that one in
another language is never found. Without most of the mean of its language, a vector says what the
text says (after Mu and Viswanath, "All-but-the-Top", ICLR 2018). Unrelated texts then have a
cosine around .07 in every language, and a question and its answer one around .5.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from errors import ConfigError
from language.script import script_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CENTERS = Path(__file__).with_name("e5_centers.npy")
"""Means of passages, then of questions, by script; made by `fitting.language_centers`."""
SCRIPTS = ("latin", "korean", "japanese")
SHARE = 0.85
"""The part of the mean that is taken off. All of it ranks as well, but the cosine then tells less
about whether there is an answer (area under the ROC curve .855 instead of .858 on KorQuAD with
the paragraph removed; .70 gives .864, but cosines of unrelated texts around .2)."""
VERSION = "1"
"""To be raised with any change here: indexes made before it are then to be rebuilt."""

_SCRIPT_OF = {"chinese": "japanese"}  # Han characters alone are far more often Japanese here


def centered(
    vector: "NDArray[np.float32]", text: str, *, is_question: bool
) -> "NDArray[np.float32]":
    """The text's vector without the mean of its language, of length one.

    A text in another script, or without letters, loses the mean of all languages.

    Raises:
        ConfigError: The file of the means is missing or damaged.
    """
    import numpy as np  # the program starts without it

    means = _means()[int(is_question)]
    script = script_of(text)
    script = _SCRIPT_OF.get(script, script)
    center = means[SCRIPTS.index(script)] if script in SCRIPTS else means.mean(axis=0)
    moved = vector - SHARE * center
    unit: NDArray[np.float32] = moved / np.linalg.norm(moved)
    return unit


@lru_cache(maxsize=1)
def _means() -> "NDArray[np.float32]":
    import numpy as np

    try:
        means: NDArray[np.float32] = np.load(CENTERS)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(
            f"{CENTERS} can't be read ({error}). Restore the file from the repository."
        ) from error
    return means
