"""Why a person can or can't read a document, rule by rule."""

import re
from collections.abc import Iterator

import streamlit as st

from bootstrap import Services
from domain import Account, DocumentFilter
from services.administration.explanation_service import PersonExplanation
from services.sources.permission_service import Rule, Step
from ui.administration.person_choice import choose_person
from ui.administration.reader_texts import Accounts, accounts_among, person_name, reader_names
from ui.shared.frame import principal, show_errors
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import ago

DOCUMENT_WORDS = "why-document-words"
_SHOWN = 20
_ID = re.compile(r"(?:^|[?&]id=)([0-9a-f]{32})(?:$|[&#])")
"""The id of a document, alone or in the address of its page."""


def show_explanation(services: Services) -> None:
    """Show the choice of a person and a document, and the explanation for both."""
    person = choose_person(services, "why", words.WHY_PERSON)
    chosen = _choose_document(services)
    if not person or not chosen:
        st.caption(words.WHY_START)
        return
    with show_errors():
        _show(services, person, *chosen)


def _choose_document(services: Services) -> tuple[str, str] | None:
    """The id and the title of the chosen document."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="why-document"):
        text = st.text_input(
            words.WHY_FIND_DOCUMENT,
            key=DOCUMENT_WORDS,
            placeholder=words.WHY_FIND_DOCUMENT_PLACEHOLDER,
            help=words.WHY_FIND_DOCUMENT_HELP,
            icon=":material/search:",
        )
        titles = _titles(services, text)
        chosen = st.selectbox(
            words.WHY_DOCUMENT,
            list(titles),
            index=0 if len(titles) == 1 else None,
            format_func=titles.__getitem__,
            placeholder=words.WHY_DOCUMENT if titles else words.WHY_NO_DOCUMENT,
            key=f"why-document-chosen-{text}",
        )
    return (chosen, titles[chosen]) if chosen else None


def _titles(services: Services, text: str) -> dict[str, str]:
    """By id, the titles of readable documents with these words, or the id in the text."""
    if found := _ID.search(text.strip()):
        return {found[1]: words.WHY_BY_ID.format(id=found[1])}
    page = services.documents.page(principal(), DocumentFilter(text), limit=_SHOWN)
    return {one.id: one.title or one.key for one in page.documents}


def _show(services: Services, person: Account, document_id: str, title: str) -> None:
    explanation = services.explanations.explain(principal(), person.id, document_id)
    steps = explanation.rules.steps
    readers = [one for step in steps for one in (*(step.readers or ()), *step.through)]
    accounts = accounts_among(services, readers)
    rows = [(explanation.account.disabled_at is None, _account_line(explanation.account))]
    rows += [(step.is_readable, _line(explanation, step, accounts)) for step in steps]
    kind = "fn-readable" if explanation.is_readable else "fn-hidden"
    verdict = (
        f'<p class="fn-access {kind}" role="status">{escape(_verdict(explanation, title))}</p>'
    )
    items = "".join(_items(rows))
    with st.container(border=True, key="explanation"):
        st.html(f'{verdict}<ol class="fn-rules">{items}</ol>')
        st.caption(_groups(explanation.account))


def _verdict(explanation: PersonExplanation, title: str) -> str:
    person = explanation.account
    if not explanation.is_readable:
        sentence = words.WHY_HIDDEN
    elif explanation.needs_verified_email:
        sentence = words.WHY_READABLE_VERIFIED
    else:
        sentence = words.WHY_READABLE
    return str(sentence.format(name=person_name(person), title=title, email=person.email))


def _items(rows: list[tuple[bool, str]]) -> Iterator[str]:
    for allows, line in rows:
        kind = "fn-ok" if allows else "fn-bad"
        word = escape(words.WHY_ALLOWS if allows else words.WHY_DENIES)
        yield f'<li><span class="fn-badge {kind}">{word}</span>{escape(line)}</li>'


def _account_line(account: Account) -> str:
    if account.disabled_at is not None:
        return str(words.WHY_ACCOUNT_DISABLED)
    return str(words.WHY_ACCOUNT_ENABLED.format(role=words.ROLE_NAMES[account.role]))


def _line(explanation: PersonExplanation, step: Step, accounts: Accounts) -> str:
    if step.rule is Rule.CONVERSATION:
        return str(words.WHY_CONVERSATION[step.is_readable])
    if step.readers is None:
        sentences = words.WHY_OPEN
    elif step.is_readable:
        sentences = words.WHY_ADMITS
    else:
        sentences = words.WHY_EXCLUDES if step.readers else words.WHY_EXCLUDES_ALL
    source = explanation.rules.source
    return str(
        sentences[step.rule].format(
            source=source.name,
            collection=source.collection,
            readers=reader_names(step.readers or (), accounts),
            through=reader_names(step.through, accounts),
        )
    )


def _groups(account: Account) -> str:
    when, groups = ago(account.signed_in_at), ", ".join(sorted(account.groups))
    sentence = words.WHY_GROUPS if groups else words.WHY_NO_GROUPS
    return escape(sentence.format(when=when, groups=groups))
