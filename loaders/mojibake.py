"""Text that was once decoded wrongly, and has been stored so since: Ã© where é was meant."""

SUSPECTED = (
    "some text looks wrongly decoded (such as Ã© for é): it may have been saved in a wrong encoding"
)
_SAMPLE = 200_000  # characters looked at
_LEAST = 3
_PER_CHARACTER = 1 / 1000
_REPLACEMENT = "\ufffd"


def is_suspected(text: str) -> bool:
    """Whether more than one character in a thousand, and more than a few, seem to be mojibake.

    Counted are the sequences that ftfy calls bad (UTF-8, cp949 and others read as Latin letters)
    and the replacement characters that a careless converter leaves.
    """
    from ftfy.badness import badness  # slow, and an import that changes nothing needs none

    looked_at = text[:_SAMPLE]
    if looked_at.isascii():
        return False
    found = badness(looked_at) + looked_at.count(_REPLACEMENT)
    return found >= max(_LEAST, _PER_CHARACTER * len(looked_at))
