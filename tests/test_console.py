"""Output that all commands share."""

import pytest

from commands.console import progress_figures
from domain import Progress, Stage


@pytest.mark.parametrize(
    ("progress", "figures"),
    [
        (Progress(Stage.LISTING, 3, 0), "3/?"),
        (Progress(Stage.INDEXING, 3, 9), "3/9"),
        (
            Progress(Stage.EMBEDDING, 3, 9, passages=1200, read=1300, expected=5600),
            "3/9, 1,200 of about 5,600 passages",
        ),
        (
            Progress(
                Stage.EMBEDDING, 3, 9, passages=1200, read=5600, expected=5600, seconds_left=192
            ),
            "3/9, 1,200 of 5,600 passages, about 3:10 left",
        ),
        (
            Progress(Stage.REMOVING, 3, 9, seconds_left=3 * 3600 + 62),
            "3/9, about 3:01:00 left",
        ),
        (Progress(Stage.REMOVING, 8, 9, seconds_left=2), "8/9, almost done"),
    ],
)
def test_the_progress_bar_shows_documents_passages_and_the_time_left(progress, figures):
    assert progress_figures(progress) == figures
