"""A library in a known state, with its sources, a conversation, and an attached file."""

import os
import random
import shutil
from pathlib import Path

import bootstrap
from bootstrap.services import Services
from domain import LOCAL_USER, ApiScope, Turn
from settings import Settings
from tests.fakes.openai import EMBEDDING_MODEL

ROOT = Path(__file__).parents[2]
WORDS = "vacation server deploy expense invoice laptop 휴가 서버 배포 休暇 規定 経費".split()  # noqa: SIM905
QUESTION = "Which laptop is in the invoice?"
ATTACHED = "budget.md"
ATTACHMENT = "# Budget\n\nThe laptop budget of the Bristol office is 1,200 pounds a year."


def page(number: int, edition: int) -> str:
    """A page of the handbook; each edition has other words."""
    rng = random.Random(f"{number} {edition}")
    return f"# Page {number}\n\n{' '.join(rng.choices(WORDS, k=rng.randint(20, 120)))}\n"


class Scene:
    """The folders of the benchmark: `documents`, the `data` folder, `backups`, and originals."""

    def __init__(
        self, folder: Path, embedding_url: str, *, pages: int = 40, notes: int = 210
    ) -> None:
        """Create the scene in an empty folder; passages are embedded at that address.

        The handbook has so many pages, and the archive so many short notes: by default, more than
        one transaction removes.
        """
        self.pages, self._notes = pages, notes
        self.documents = folder / "documents"
        self.handbook, self.archive = self.documents / "handbook", self.documents / "archive"
        self.data_dir, self.backups = folder / "data", folder / "backups"
        self.folder, self._original = folder, folder / "original"
        self._embedding = {
            "embedding_provider": "openai",
            "embedding_model": EMBEDDING_MODEL,
            "embedding_base_url": embedding_url,
            "embedding_api_key": "unused",
        }
        self.ledger = self.data_dir / "footnote.db"
        self.secret = ""
        self.turns: list[Turn] = []

    def prepare(self) -> None:
        """Import both sources, ask two questions, and attach a file: the state after `reset`."""
        self._write_documents()
        self.backups.mkdir()
        self.empty()
        services = self.services()
        for source in (self.handbook, self.archive):
            services.directories.import_directory(LOCAL_USER, source)
        turn = services.chat.ask(LOCAL_USER, QUESTION)
        services.uploads.add(
            LOCAL_USER,
            [(ATTACHED, ATTACHMENT.encode())],
            conversation_id=turn.conversation_id,
        )
        [box] = services.uploads.boxes(LOCAL_USER)
        services.sources.refresh(LOCAL_USER, box.id)
        perform_queue(services)
        services.chat.ask(LOCAL_USER, QUESTION, turn.conversation_id)
        self.turns = services.turns.list(LOCAL_USER, turn.conversation_id)
        self.secret = services.api_keys.create(
            LOCAL_USER, LOCAL_USER, "benchmark", [ApiScope.ASK]
        ).secret
        close(services)
        shutil.copytree(self.data_dir, self._original)

    def reset(self) -> None:
        """Restore the state after `prepare`."""
        self._write_documents()
        self.empty()
        shutil.copytree(self._original, self.data_dir, dirs_exist_ok=True)

    def empty(self) -> None:
        """Replace the data folder by an empty one."""
        shutil.rmtree(self.data_dir, ignore_errors=True)
        self.data_dir.mkdir(mode=0o700)

    def services(self, **settings: object) -> Services:
        """Services of a new start, which recovers from the process that was killed."""
        values = self._embedding | settings
        return bootstrap.build_services(Settings(data_dir=self.data_dir, _env_file=None, **values))

    def environment(self, settings: dict[str, object]) -> dict[str, str]:
        """The environment of a process with these settings."""
        named = {
            f"FOOTNOTE_{name.upper()}": str(value)
            for name, value in (self._embedding | settings).items()
        }
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        return (
            base | {"FOOTNOTE_DATA_DIR": str(self.data_dir), "FOOTNOTE_LOG_LEVEL": "error"} | named
        )

    def faults(self, services: Services) -> list[str]:
        """What has changed in the conversation and in the attached file."""
        [box] = services.uploads.boxes(LOCAL_USER)
        file = services.uploads.files.folder(box.location) / ATTACHED
        turns = services.turns.list(LOCAL_USER, self.turns[0].conversation_id)
        return [
            *(["the attached file has changed"] if file.read_text() != ATTACHMENT else []),
            *(["the conversation has changed"] if turns[: len(self.turns)] != self.turns else []),
        ]

    def _write_documents(self) -> None:
        shutil.rmtree(self.documents, ignore_errors=True)
        self.handbook.mkdir(parents=True)
        self.archive.mkdir()
        for number in range(self.pages):
            (self.handbook / f"page-{number:03}.md").write_text(page(number, 0), encoding="utf-8")
        for number in range(self._notes):
            text = f"Invoice {number} is paid.\n"
            (self.archive / f"note-{number:03}.md").write_text(text, encoding="utf-8")


def texts_in(folder: Path) -> dict[str, str]:
    """What a complete import of the folder stores, by the names of the files."""
    return {file.name: file.read_text(encoding="utf-8").strip() for file in folder.rglob("*.md")}


def perform_queue(services: Services) -> None:
    """Perform all queued and interrupted imports, as a worker does."""
    while services.worker.run_next():
        pass


def close(services: Services) -> None:
    """Close the ledger, so that its folder can be copied."""
    services.parts.database.close()
