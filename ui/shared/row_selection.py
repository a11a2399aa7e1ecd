"""Tables whose rows can be selected."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

SELECTION = "row_selection"

Row = TypeVar("Row", bound=Hashable)
Item = TypeVar("Item")
Height = int | Literal["auto", "content"]
_MOST_WITHOUT_SCROLLING, _SCROLLED_PX = 11, 460


def table_height(rows: Sequence[object]) -> Height:
    """A height at which a table of few rows does not scroll, and one of many does."""
    return "content" if len(rows) <= _MOST_WITHOUT_SCROLLING else _SCROLLED_PX


def select_rows(
    table: str,
    rows: Sequence[Row],
    columns: Mapping[str, Sequence[Any]],
    config: Mapping[str, Any],
    *,
    alt: str,
    only_one: bool = False,
) -> list[Row]:
    """Show a table with selectable rows, and return the selected ones in their order.

    The selection follows a row's value when other rows are added or removed. A table with another
    name starts without a selection.
    """
    selection: tuple[str, list[Row]] = st.session_state.get(SELECTION, ("", []))
    before = selection[1] if selection[0] == table else []
    event = st.dataframe(
        dict(columns),
        column_config=dict(config),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row" if only_one else "multi-row",
        # Streamlit keeps the selection of a key by row number, even if the rows have changed.
        selection_default={
            "selection": {"rows": [rows.index(row) for row in before if row in rows]}
        },
        key=f"{table}-{digest(rows)}",
        height=table_height(rows),
        alt=alt,
        placeholder="",
    )
    chosen = [rows[number] for number in row_numbers(event)]
    st.session_state[SELECTION] = (table, chosen)
    return chosen


def select_row(
    table: str,
    rows: Mapping[Row, Item],
    columns: Mapping[str, Sequence[Any]],
    config: Mapping[str, Any],
    *,
    alt: str,
) -> Item | None:
    """Show a table of which one row can be selected; returns the item of the selected row."""
    chosen = select_rows(table, list(rows), columns, config, alt=alt, only_one=True)
    return rows[chosen[0]] if chosen else None


def row_numbers(event: Mapping[str, Any]) -> list[int]:
    """The indices of the selected rows."""
    numbers: list[int] = event["selection"]["rows"]
    return numbers


def digest(content: object) -> str:
    """A short hash for widget keys, so that different content gets new widgets."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]
