"""The frame of every page: title, style, navigation, and errors."""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import streamlit as st

import bootstrap
from domain import Answerer, Principal, Role
from domain.errors import AppError
from domain.public_messages import message_for_everyone
from services.access import require_role
from ui.shared import session
from ui.shared.safe_html import escape, run_script
from ui.text import words
from ui.text.reader_language import number, settle_language

WARM_UP_AFTER_S = 1.0  # so that it does not delay the page


def services() -> bootstrap.Services:
    """The services for the current settings.

    An error in the settings of the environment ends the page with its message.
    """
    return _latest_services().get()


@st.cache_resource(show_spinner=False)
def _latest_services() -> bootstrap.LatestServices:
    return bootstrap.LatestServices(_build, bootstrap.location_in_environment())


def _build() -> bootstrap.Services:
    result = bootstrap.build_services()
    gc.unfreeze()  # the previous services, if any
    timer = threading.Timer(WARM_UP_AFTER_S, _warm_up, [result])
    timer.daemon = True
    timer.start()
    return result


def _warm_up(services: bootstrap.Services) -> None:
    """Load what the first question needs, and exclude it from garbage collection.

    Streamlit collects garbage after each run of a page, before it tells the browser that the run
    has ended. Scanning every module and model takes longer than most runs.
    """
    services.warm_up()
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


def principal() -> Principal:
    """The person who is signed in; the local user without sign-in."""
    return session.principal(services())


def needs_sign_in() -> bool:
    """Whether the person must sign in before they see a page.

    False if this can't be determined, because then nothing of the library can be read either.
    """
    with suppress(AppError):
        return session.refusal(services()) is not None
    return False


def has_catalogs() -> bool:
    """Whether there is a catalog; False if the library can't be read, which the page reports."""
    with suppress(AppError):
        return services().library.has_catalogs(principal())
    return False


def has_sign_in() -> bool:
    """Whether people sign in; False if this can't be determined."""
    with suppress(AppError):
        return services().sign_in is not None
    return False


def in_address(name: str) -> str:
    """The value of a parameter of the address, or ""."""
    value = st.session_state.pop(_session_key(name), None)
    if value is not None:
        _set_address(name, value)
    return st.query_params.get(name, "")


def put_into_address(name: str, value: str) -> None:
    """Set a parameter of the address; "" removes it.

    The value is also stored in the session, because a fragment that reruns automatically may start
    a run of the page with the previous address.
    """
    if value != st.query_params.get(name, ""):
        st.session_state[_session_key(name)] = value
        _set_address(name, value)


IMPORT_PAGE = "pages/imports.py"
ADMINISTRATION_PAGE = "pages/administration.py"
_ROLES = {
    IMPORT_PAGE: Role.EDITOR,
    ADMINISTRATION_PAGE: Role.ADMIN,
    "pages/app_settings.py": Role.ADMIN,
    "pages/status.py": Role.ADMIN,
}
"""The roles that pages require; all others are open to every person."""
NEW_SOURCE = "new"
"""The parameter of the import page's address that opens the form for a new source."""


def may_edit() -> bool:
    """Whether the person may change sources and documents."""
    return principal().role.includes(Role.EDITOR)


def show_import_link(label: str) -> None:
    """Show a link to the import page to people who may open it."""
    if may_edit():
        st.page_link(IMPORT_PAGE, label=label, icon=":material/sync:")


def link_to_new_source(label: str) -> None:
    """Show editors a link to the import page with the form for a new source open."""
    if not may_edit():
        return
    parameters = {NEW_SOURCE: "source"}
    st.page_link(IMPORT_PAGE, label=label, icon=":material/upload_file:", query_params=parameters)


def _set_address(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def _session_key(name: str) -> str:
    return f"address-{name}"


@contextmanager
def show_errors() -> Iterator[None]:
    """Show an application error at the current position; it ends the block."""
    try:
        yield
    except AppError as error:
        show_error(error)


def show_error(error: AppError) -> None:
    """Show the public message, and whether a retry may help."""
    show_problem(message_for_everyone(error), hint=words.RETRYABLE if error.retryable else "")


def show_problem(message: str, *, hint: str = "", severe: bool = True) -> None:
    """Show plain text as a notice; its markup is escaped."""
    st.html(problem_html(message, hint=hint, severe=severe))


def problem_html(message: str, *, hint: str = "", severe: bool = True) -> str:
    """The notice that `show_problem` shows."""
    hint_html = f" <span>{escape(hint)}</span>" if hint else ""
    kind = "fn-error" if severe else "fn-warning"
    text = escape(words.translated(message))
    return f'<div class="fn-notice {kind}" role="alert">{text}{hint_html}</div>'


NOTICE_S = 10.0


class Notices:
    """Notices at the top of a page, shown for `NOTICE_S` seconds, however often the page reruns."""

    def __init__(self, key: str) -> None:
        """`key` identifies the notices of the page in the session."""
        self._key = key

    def say(self, *texts: str) -> None:
        """Add notices, and restart the time of the earlier ones."""
        st.session_state[self._key] = ([*self.lines(), *texts], time.monotonic())

    def lines(self) -> list[str]:
        """The current notices, in order."""
        texts, since = st.session_state.get(self._key, ([], 0.0))
        return texts if time.monotonic() - since < NOTICE_S else []

    def show(self) -> None:
        """Show each notice on a line."""
        for text in self.lines():
            st.html(f'<p class="fn-status" role="status">{escape(text)}</p>')

    def forget(self) -> None:
        """Remove all notices."""
        st.session_state.pop(self._key, None)


ROUND = "forms-round"


def form_key(name: str) -> str:
    """The key of a form or field, which changes when the forms are renewed."""
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def renew_forms() -> None:
    """Reset all forms, because their input has been stored or the stored values have changed."""
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def offset_of(key: str, rows: int) -> int:
    """The number of rows before the current page."""
    return rows * (int(st.session_state.get(key, 1)) - 1)


def show_pages(total: int, rows: int, key: str) -> None:
    """Show the pagination if there is more than one page."""
    if total > rows:
        st.pagination(-(-total // rows), key=key)


def show_pager(offset: int, count: int, total: int, rows: int, key: str) -> None:
    """Show that `count` rows from `offset` on are visible, and the pagination."""
    with st.container(horizontal=True, vertical_alignment="center"):
        first, last = number(offset + 1), number(offset + count)
        st.caption(words.SHOWN_OF.format(first=first, last=last, total=number(total)))
        show_pages(total, rows, key)


FRAMED, OPENED = "framed", "opened"
HERE = Path(__file__).parent
STYLE, ICON = HERE / "style", HERE / "icon.svg"
PAGES = HERE.parents[1] / "pages"


def show_frame() -> None:
    """Configure the page, show the logo, and record that app.py has run."""
    spoken = settle_language()
    st.set_page_config(page_icon=ICON, layout="wide")
    st.logo(ICON, size="large")
    st.html(f"<style>{_style()}</style>")
    run_script("frame", language=spoken)
    run_script("theme", pages=_page_names())
    run_script("quotes")
    st.session_state[FRAMED] = True


@cache
def _page_names() -> str:
    return " ".join(sorted(file.stem for file in PAGES.glob("*.py")))


@cache
def _style() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(STYLE.glob("*.css")))


def require_frame(page: str) -> None:
    """Go to app.py and back if a page was opened directly; end the page if the role forbids it.

    On a fresh server, such a page runs without app.py, and so without its title and style, and
    without the sign-in.
    """
    if not st.session_state.get(FRAMED) or needs_sign_in():
        st.session_state[OPENED] = page
        st.switch_page("app.py", query_params=st.query_params.to_dict())
    if page in _ROLES:
        _require_role(_ROLES[page])


def _require_role(role: Role) -> None:
    try:
        require_role(principal(), role)
    except AppError as error:
        show_error(error)
        st.stop()


def may_open(page: str) -> bool:
    """Whether the person's role permits the page; True if this can't be determined."""
    if page not in _ROLES:
        return True
    with suppress(AppError):
        return session.current_principal(services()).role.includes(_ROLES[page])
    return True


def opened_page() -> str:
    """The last part of the address of the page that called `require_frame`, or ""."""
    return Path(st.session_state.get(OPENED, "")).stem


def return_to_opened_page() -> None:
    """Return to the page that called `require_frame`, after navigation is set up."""
    if page := st.session_state.pop(OPENED, ""):
        st.switch_page(page, query_params=st.query_params.to_dict())


def name_tab(name: str) -> None:
    """Set the title of the browser's tab: the name of the page or of what it shows."""
    st.set_page_config(page_title=words.TAB_TITLE.format(name=" ".join(name.split())))


def show_name(*, is_start: bool) -> None:
    """Show the name of the program; only for screen readers except at the start."""
    if is_start:
        show_title(words.APP, words.TAGLINE)
    else:
        st.html(f'<h1 class="fn-unseen">{escape(words.APP)}</h1>')


def show_title(title: str, note: str) -> None:
    """Show the page's heading and a note below it."""
    html = f"<h1>{escape(title)}</h1><p>{escape(note)}</p>"
    st.html(f'<div class="fn-heading">{html}</div>')


def show_model(answerer: Answerer) -> None:
    """Show which model writes the answers, and its notice, if any."""
    model = words.MODEL_NOTES.get(answerer.label, answerer.label)
    lines = [
        words.ANSWERS_BY.format(model=model),
        *filter(None, [words.translated(answerer.notice)]),
    ]
    st.html("".join(f'<p class="fn-model">{escape(line)}</p>' for line in lines))
