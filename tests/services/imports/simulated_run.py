"""The progress of a simulated import, with the time of each report and the true time left."""

from dataclasses import dataclass

from domain import DocumentRef, Progress, Stage
from services.imports.import_forecast import PassageForecast, TimeLeft

BATCH = 256
PART = 32


@dataclass(frozen=True)
class File:
    """A file with `passages`, each of which takes `bytes_per_passage` of it."""

    name: str
    passages: int
    bytes_per_passage: int = 1000

    @property
    def ref(self):
        return DocumentRef(self.name, "1", self.name, size=self.passages * self.bytes_per_passage)


@dataclass(frozen=True)
class Seconds:
    """The seconds that the steps of an import take."""

    reading: float = 0.01
    """Per document and per 100 passages of it"""
    embedding: float = 0.02
    """Per passage"""
    writing: float = 0.0002
    """Per passage"""
    opening: float = 2.0
    """Once, before the first passages are embedded"""


class Run:
    """The reports of an import as (seconds, progress), in the order and batches of real ones."""

    def __init__(self, files, seconds=Seconds(), known=None):
        self.files, self.cost = files, seconds
        self._forecast = PassageForecast([file.ref for file in files], known or {})
        self.now, self.done, self.read, self.embedded = 0.0, 0, 0, 0
        self.reports = []
        batch = []
        for file in files:
            self._report(Stage.READING)
            self.now += seconds.reading * (1 + file.passages / 100)
            self._report(Stage.SPLITTING)
            self.read += file.passages
            self._forecast.note(file.ref, file.passages)
            batch.append(file)
            if sum(one.passages for one in batch) >= BATCH:
                self._flush(batch)
        self._flush(batch)
        self._report(Stage.READING)

    def estimates(self):
        """The estimate and the true time left at each report that has an estimate, in seconds."""
        time_left = TimeLeft(embeds=True)
        for at, progress in self.reports:
            time_left.note(progress, at)
            if (estimate := time_left.at(at)) is not None:
                yield at, estimate, self.now - at

    def _flush(self, batch):
        passages, part = sum(file.passages for file in batch), 0
        while part < passages:
            self._report(Stage.EMBEDDING, part, passages)
            if not self.embedded and not part:
                self.now += self.cost.opening
            size = min(PART, passages - part)
            self.now += self.cost.embedding * size
            part += size
        if passages:
            self._report(Stage.WRITING, passages, passages)
            self.now += self.cost.writing * passages
        self.embedded += passages
        self.done += len(batch)
        batch.clear()

    def _report(self, stage, part=0, parts=0):
        progress = Progress(
            stage,
            self.done,
            len(self.files),
            passages=self.embedded + part,
            part=part,
            parts=parts,
            read=self.read,
            expected=self.read + self._forecast.rest,
        )
        self.reports.append((self.now, progress))
