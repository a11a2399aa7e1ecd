"""The compressed RTF in which Outlook keeps the text of some mails ([MS-OXRTFCP])."""

from errors import UnreadableError

_FIRST = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n" + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_WINDOW = 4096  # bytes


def unpacked(data: bytes) -> bytes:
    """The RTF; what is there of it where the data end early.

    Raises:
        UnreadableError: It is of no known kind.
    """
    kind, packed = data[8:12], data[16:]
    if kind == _PLAIN:
        return packed
    if kind != _COMPRESSED:
        raise UnreadableError("the mail's text is damaged: save it again in Outlook")
    return _inflated(packed)


def _inflated(packed: bytes) -> bytes:
    """Follow the runs: eight to a byte of flags, each a byte, or a place and length gone by."""
    found = bytearray(_FIRST)
    at = 0
    while at < len(packed):
        flags, at = packed[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                found += packed[at : at + 1]
                at += 1
                continue
            pair = int.from_bytes(packed[at : at + 2], "big")
            at += 2
            # The place is one in a ring of 4096 bytes; where it meets its end, the text is over.
            back = (len(found) - (pair >> 4)) % _WINDOW
            if not back or at > len(packed):
                return bytes(found[len(_FIRST) :])
            for _ in range((pair & 15) + 2):
                found.append(found[-back] if back <= len(found) else 0x20)
    return bytes(found[len(_FIRST) :])
