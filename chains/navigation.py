"""Lines that lead to other pages and say nothing themselves: badges, menus, tables of contents."""

import re

_IMAGE = re.compile(r"\[?!\[[^\]\n]{0,500}\]\([^()\n]{0,2000}\)(?:\]\([^()\n]{0,2000}\))?")
"""An image, perhaps inside a link."""
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\((?P<target>[^()\n]{0,2000})\)")
_BREADCRUMBS = re.compile(r"[^>»›.。!?\n]{1,40}(?:\s[>»›]\s[^>»›.。!?\n]{1,40}){2,}")
_WORD = re.compile(r"[^\W_]")


def is_navigation(line: str) -> bool:
    """Whether the line holds nothing but images, several links, or links within its own page.

    A path such as "Home > Guides > Setup" counts too. A lone link to another page does not: it
    may be what somebody looks for.
    """
    if _BREADCRUMBS.fullmatch(line.strip()):
        return True
    without_images = _IMAGE.sub("", line)
    if _WORD.search(_LINK.sub("", without_images)):
        return False
    targets = [match["target"] for match in _LINK.finditer(without_images)]
    if len(targets) == 1:
        return targets[0].startswith("#")
    return len(targets) > 1 or without_images != line
