"""A table of an RTF document, as its words build it."""

from loaders.formats.content import pipe_table


class Table:
    """The rows of the table that is being read; `row` holds the cells of the current one."""

    def __init__(self) -> None:
        """Begin without any row."""
        self.row: list[str] = []
        self._rows: list[list[str]] = []
        self._merged: list[bool] = []
        self._is_merged = False

    def word(self, word: str) -> None:
        """Take what a row says of its cells: which of them go on from the cell above."""
        if word == "trowd":
            self._merged.clear()
        elif word == "clvmrg":
            self._is_merged = True
        elif word == "cellx":
            self._merged.append(self._is_merged)
            self._is_merged = False
        elif word == "row":
            self._end_row()

    def _end_row(self) -> None:
        above = self._rows[-1] if self._rows else []
        for i, merged in enumerate(self._merged[: len(self.row)]):
            if merged and not self.row[i] and i < len(above):
                self.row[i] = above[i]
        self._rows.append(self.row)
        self.row = []

    def take(self) -> str:
        """The table so far, which is then forgotten; empty where there is none."""
        if self.row:
            self._end_row()
        rows, self._rows = self._rows, []
        return pipe_table(rows)
