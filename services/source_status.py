"""How a source stands, and what a person may set of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from domain import ImportState, QueuedImport
from storage.sources import SourceFigures, StoredSource


class Schedule(StrEnum):
    """How often a source is brought up to date by itself."""

    NEVER = "never"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"

    @property
    def seconds(self) -> int | None:
        """The time between two refreshes; None for never."""
        return _SECONDS[self]

    @classmethod
    def of(cls, seconds: int | None) -> "Schedule":
        """The schedule with at least that time between two refreshes."""
        if seconds is None:
            return cls.NEVER
        return next((one for one, time in _SECONDS.items() if time and time >= seconds), cls.WEEKLY)


_SECONDS = {
    Schedule.NEVER: None,
    Schedule.HOURLY: 3600,
    Schedule.DAILY: 24 * 3600,
    Schedule.WEEKLY: 7 * 24 * 3600,
}


_DAY_S = 24 * 3600
_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What a person sets of a source of any kind; an empty collection is the source's name."""

    name: str = ""
    collection: str = ""
    labels: tuple[str, ...] = ()
    schedule: Schedule = Schedule.NEVER

    def over(self, before: "SourceSettings") -> "SourceSettings":
        """These settings, and those of before in place of what is left empty."""
        return SourceSettings(
            self.name.strip() or before.name,
            self.collection.strip() or before.collection,
            tuple(label for label in self.labels if label.strip()) or before.labels,
            before.schedule if self.schedule is Schedule.NEVER else self.schedule,
        )


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source and how it stands.

    `job` is what is queued, at work, paused or interrupted of it; `last` its latest import that
    has ended. `next_refresh` is None where none is due by itself, or while it is paused.
    """

    source: StoredSource
    figures: SourceFigures
    job: QueuedImport | None
    last: QueuedImport | None
    next_refresh: datetime | None

    @property
    def state(self) -> ImportState | None:
        """Of the job there is, or else of the last import; None where there was none."""
        latest = self.job or self.last
        return latest.state if latest else None


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """What goes with a source. The conversations keep their answers and the quoted evidence."""

    documents: int
    passages: int
    conversations: int


def next_refresh(
    source: StoredSource, last: datetime | None, failed_in_a_row: int = 0
) -> datetime | None:
    """When it is brought up to date by itself; None for never, or while it is paused.

    `last` is when that was begun the last time; to import single documents is not that.
    After each import that failed the time doubles, up to a day.
    """
    if source.refresh_s is None or source.paused:
        return None
    since = last or source.created_at
    patient = source.refresh_s * 2 ** min(failed_in_a_row, _DOUBLINGS)
    return since + timedelta(seconds=max(source.refresh_s, min(patient, _DAY_S)))
