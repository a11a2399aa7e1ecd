"""What a reader of the page gets from each macro, in words."""

from collections.abc import Callable
from functools import partial

from loaders.confluence.storage_format.code import (
    PLAIN_BODIES,
    say_block,
    say_code,
    say_formula,
    say_html,
    say_inline_formula,
)
from loaders.confluence.storage_format.elements import Element, insert, say_apart
from loaders.confluence.storage_format.links import Links, markdown_link
from loaders.confluence.storage_format.macro import Macro, read_macro
from loaders.confluence.storage_format.panels import PANELS, keep_bare_body, keep_body
from loaders.confluence.storage_format.parameters import told
from loaders.confluence.storage_format.roadmap import say_roadmap

# Their title is shown, other parameters set how they look.
_BOXES = ("panel", "expand", "ui-expand", "excerpt", "details", "chart", "section", "column")
# They list what is read where it stands, or help to get there. toc-zone and others have a body.
_NAVIGATION = (
    "anchor", "attachments", "blog-posts", "change-history", "children", "content-report-table",
    "contentbylabel", "contentbyuser", "contributors", "contributors-summary",
    "create-from-template", "create-space-button", "detailssummary", "favpages", "gadget",
    "global-reports", "index", "labels-list", "listlabels", "livesearch", "navmap", "network",
    "pagetree", "pagetreesearch", "popular-labels", "profile-picture", "recently-updated",
    "recently-updated-dashboard", "recently-used-labels", "related-labels", "search",
    "searchbox", "space-attachments", "space-details", "spaces", "tasks-report-macro", "toc",
    "toc-zone", "userlister",
)  # fmt: skip
_FILES = ("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "multimedia")
_FORMULAS = (
    "easy-math-block", "eazy-math-block", "latex", "latex-formatting", "math-block", "mathblock",
    "mathdisplay", "mathjax-block-macro",
)  # fmt: skip
_INLINE_FORMULAS = (
    "easy-math-inline", "eazy-math-inline", "latex-inline", "math-inline", "mathinline",
    "mathjax-inline-macro",
)  # fmt: skip


def convert_macro(element: Element, links: Links) -> None:
    """A macro of any kind, made HTML in its place."""
    macro = read_macro(element, links)
    _MACROS.get(macro.name, _say_all)(macro)


def _saying(*names: str) -> Callable[[Macro], None]:
    """What says the macro's title, and the first of these parameters that is there."""

    def convert(macro: Macro) -> None:
        said = (macro.parameter("title"), macro.parameter(*names))
        say_apart(macro.element, " ".join(dict.fromkeys(filter(None, said))))

    return convert


def _say_page(macro: Macro) -> None:
    """The page whose text is shown here, as a link: its text is read with that page."""
    name = macro.parameter("", "page", "blogpost", "pageTitle")
    if name and "](" not in name:
        space_key, _, title = name.rpartition(":")
        if not space_key.replace("~", "").isalnum():
            space_key, title = "", name
        space = space_key or macro.parameter("spaceKey", "space") or None
        name = markdown_link(title, macro.links.page(space, title, ""))
    say_apart(macro.element, name)


def _say_file(macro: Macro) -> None:
    """The file that is shown here, as a link to it."""
    name = macro.parameter("name", "file", "filename", "")
    if name and "](" not in name:
        name = markdown_link(name, macro.links.attachment(name, None, None))
    title = macro.parameter("title")
    say_apart(macro.element, " ".join(part for part in (title, name) if part))


def _say_all(macro: Macro) -> None:
    """A macro nobody has told us of: its body, after those parameters that are words."""
    said = told(macro.parameters)
    if macro.rich is not None:
        keep_bare_body(macro)
    elif (macro.plain or "").strip():
        say_block(macro, macro.plain or "")
    else:
        say_apart(macro.element, " ".join(said))
        return
    for text in reversed(said):
        insert(macro.element, "p", text)


_MACROS: dict[str, Callable[[Macro], None]] = {
    "code": say_code,
    **dict.fromkeys(PLAIN_BODIES, say_code),
    **{name: partial(keep_body, kind=kind) for name, kind in PANELS.items()},
    **dict.fromkeys(_BOXES, keep_body),
    **dict.fromkeys(_NAVIGATION, keep_bare_body),
    **dict.fromkeys(_FILES, _say_file),
    **dict.fromkeys(_FORMULAS, say_formula),
    **dict.fromkeys(_INLINE_FORMULAS, say_inline_formula),
    **dict.fromkeys(("include", "excerpt-include"), _say_page),
    **dict.fromkeys(("style", "css-stylesheet"), keep_bare_body),
    "html": say_html,
    "roadmap": say_roadmap,
    "status": _saying("title", "colour", "color"),
    "jira": _saying("key", "jqlQuery", "url"),
    "jiraissues": _saying("key", "jqlQuery", "url"),
    "gallery": _saying("include"),
    "profile": _saying("user"),
    "widget": _saying("url"),
    "iframe": _saying("src", "url"),
}
