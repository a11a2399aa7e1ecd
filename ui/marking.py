"""Tables of which a person marks rows, to do something with what stands in them."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

MARKED = "marked_rows"

Row = TypeVar("Row", bound=Hashable)


def marked(
    table: str,
    rows: Sequence[Row],
    columns: Mapping[str, Sequence[Any]],
    config: Mapping[str, Any],
    *,
    alt: str,
    height: int | Literal["auto", "content"] = "auto",
) -> list[Row]:
    """Show rows by their columns; those that a person has marked, in their order.

    A mark belongs to what the row is about: it goes along when other rows come or go. A table
    of another name begins without any.
    """
    known: tuple[str, list[Row]] = st.session_state.get(MARKED, ("", []))
    before = known[1] if known[0] == table else []
    event = st.dataframe(
        dict(columns),
        column_config=dict(config),
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        # Streamlit keeps the marks of a key by their numbers, whatever the rows now are.
        selection_default={
            "selection": {"rows": [rows.index(row) for row in before if row in rows]}
        },
        key=f"{table}-{digest(rows)}",
        height=height,
        alt=alt,
        placeholder="",
    )
    chosen = [rows[number] for number in marked_numbers(event)]
    st.session_state[MARKED] = (table, chosen)
    return chosen


def marked_numbers(event: Mapping[str, Any]) -> list[int]:
    """The numbers of the rows that are marked now."""
    numbers: list[int] = event["selection"]["rows"]
    return numbers


def digest(told: object) -> str:
    """A short name for what widgets are about: of something else they are other widgets."""
    return hashlib.sha256(repr(told).encode()).hexdigest()[:12]
