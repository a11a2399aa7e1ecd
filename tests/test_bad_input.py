"""Unusual documents, folders, and questions.

Each gets a message with a remedy, and the library keeps answering as before.
"""

import json
import random
import subprocess
import sys
import time

import pytest

from domain import LOCAL_USER, ImportState, Outcome, SearchMode, Stage
from domain.errors import InputError, SourceError
from tests.conversations import conversations_of
from tests.fakes.command_line import CommandLine, permission_prefix
from tests.loaders.formats.files import docx_file, pdf_file, zipped

pytestmark = pytest.mark.slow

BAD_FILES = [
    ("empty.md", b"", "the file is empty"),
    ("empty.pdf", b"", "the file is empty"),
    ("blank.txt", b" \n\t\n", "0 characters"),
    ("scan.pdf", pdf_file([""]), "0 characters"),
    ("secret.pdf", pdf_file(["Pay day is the 25th."], password="x"), "password"),
    ("half.pdf", pdf_file(["Pay day is the 25th."])[:300], "damaged"),
    ("half.docx", docx_file()[: len(docx_file()) // 2], "damaged"),
    ("other.docx", zipped({"word.txt": b"no document"}), "docx"),
    ("letter.docx", b"{\\rtf1 a letter}", "docx"),
    ("table.xlsx", b"PK\x03\x04 no table", "damaged"),
    ("half.json", b'{"days": [1, 2', "JSON is invalid"),
    ("noise.txt", random.Random(3).randbytes(5000), "not text"),
    ("program.exe", b"MZ", "does not read .exe files"),
    ("no-suffix", b"text", "file name extension"),
]


@pytest.fixture
def services(imported):
    return imported()


@pytest.fixture
def footnote(tmp_path, model_cache):
    (tmp_path / "data").mkdir(exist_ok=True)
    if not (tmp_path / "data" / "cache").exists():
        (tmp_path / "data" / "cache").symlink_to(model_cache)
    return CommandLine(tmp_path / "data", tmp_path)


@pytest.fixture
def restricted():
    """A command prefix under which file permissions are enforced."""
    prefix = permission_prefix()
    if prefix is None:
        pytest.skip("root may read everything, and setpriv is not installed to drop that right")
    return prefix


def assert_nothing_is_lost(services):
    [hit] = services.search.search(LOCAL_USER, "WireGuard", mode=SearchMode.BM25)
    assert hit.metadata["key"] == "vpn.md"
    report = services.maintenance.check(LOCAL_USER)
    assert report.agrees, report.disagreements
    assert report.documents >= 4


def test_each_unreadable_file_is_reported_and_the_others_are_imported(services, handbook):
    for name, data, _ in BAD_FILES:
        (handbook / name).write_bytes(data)
    report = services.directories.import_directory(LOCAL_USER, handbook)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.count(Outcome.UNCHANGED) == 4
    reasons = {item.key: item.reason for item in report.items if item.reason}
    skipped = [item.key for item in report.items if item.outcome is Outcome.SKIPPED]
    assert sorted(skipped) == ["no-suffix", "program.exe"]
    assert reasons.keys() == {name for name, _, _ in BAD_FILES}
    for name, _, reason in BAD_FILES:
        assert reason in reasons[name], name
    assert_nothing_is_lost(services)


def test_a_file_that_becomes_unreadable_keeps_answering_with_its_old_text(services, handbook):
    (handbook / "vpn.md").write_bytes(b"")
    report = services.directories.import_directory(LOCAL_USER, handbook)
    [vpn] = [item for item in report.items if item.key == "vpn.md"]
    assert "empty" in vpn.reason
    assert_nothing_is_lost(services)


def test_a_file_deleted_during_the_import_is_reported(services, handbook):
    (handbook / "a.md").write_text("Rule one: keep the door shut.")
    (handbook / "b.md").write_text("Rule two: switch off the light.")

    def delete(progress):
        if progress.stage is Stage.READING:
            (handbook / "b.md").unlink(missing_ok=True)

    report = services.directories.import_directory(LOCAL_USER, handbook, on_progress=delete)
    [failed] = [item for item in report.items if item.outcome is Outcome.FAILED]
    assert (failed.key, "removed" in failed.reason) == ("b.md", True)
    assert report.count(Outcome.NEW) == 1
    assert_nothing_is_lost(services)


def test_the_data_folder_is_not_imported_with_a_folder_around_it(services, handbook, tmp_path):
    (tmp_path / "data" / "notes.md").write_text("Nobody's rule.")
    for _ in range(2):
        report = services.directories.import_directory(LOCAL_USER, tmp_path)
        assert [item for item in report.items if "data/" in item.key] == []
        assert report.state is ImportState.COMPLETED
    with pytest.raises(SourceError, match="data folder"):
        services.directories.import_directory(LOCAL_USER, tmp_path / "data")
    assert services.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize("path", ["nowhere", "x" * 5000, "a\0b", "\udcff", "leave.md/below"])
def test_a_path_that_does_not_exist_is_reported_briefly(services, handbook, path):
    with pytest.raises(SourceError, match="check the spelling of the path") as caught:
        services.directories.import_directory(LOCAL_USER, handbook / path)
    assert len(str(caught.value).encode()) < 500
    assert_nothing_is_lost(services)


def test_an_invalid_pattern_is_reported(services, handbook):
    with pytest.raises(InputError, match=r"\[z-a\]\* is not a valid pattern"):
        services.directories.import_directory(LOCAL_USER, handbook, include=["[z-a]*"])
    assert_nothing_is_lost(services)


@pytest.mark.slow
def test_a_file_without_read_permission_is_reported_and_kept(footnote, handbook, restricted):
    (handbook / "closed").mkdir()
    (handbook / "closed" / "rules.md").write_text("Rule one: keep the door shut.")
    footnote.run("import", handbook)
    (handbook / "closed").chmod(0)
    (handbook / "vpn.md").chmod(0)
    try:
        result = footnote.run("import", handbook, code=3, within=restricted)
        inside = footnote.run("import", handbook / "closed" / "x", code=1, within=restricted)
        alone = footnote.run("import", handbook / "closed", code=1, within=restricted)
    finally:
        (handbook / "closed").chmod(0o755)
        (handbook / "vpn.md").chmod(0o644)
    assert f"{handbook}/closed: the folder can't be opened" in result.stdout
    assert f"{handbook}/vpn.md: the file can't be opened" in result.stdout
    assert str(handbook / "closed") in inside.stderr
    assert str(handbook / "closed") in alone.stderr
    assert "rules.md" in footnote.run("search", "door", "--mode", "bm25").stdout
    assert "5 documents" in footnote.run("check").stdout


UNUSUAL_QUESTIONS = [
    "???",
    "\0",
    "a\0b",
    "\u202e",
    "🦓" * 50,
    '"AND OR (NOT *:',
    "[1] [9]",
    "%s {0}",
    "'",
]


@pytest.mark.parametrize("question", UNUSUAL_QUESTIONS)
def test_an_unusual_question_is_answered(services, question):
    turn = services.chat.ask(LOCAL_USER, question)
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]
    services.search.search(LOCAL_USER, question)


@pytest.mark.parametrize("question", ["", " \n", "가" * 100_000, "leave " * 20_000, "half \udcff"])
def test_an_invalid_question_is_refused_briefly(services, question):
    with pytest.raises(InputError) as caught:
        services.chat.ask(LOCAL_USER, question)
    assert str(caught.value).startswith("The question ")
    assert len(str(caught.value)) < 300
    assert conversations_of(services) == []
    assert_nothing_is_lost(services)


@pytest.mark.slow
@pytest.mark.parametrize("letters", ["가나다라마바사 ", "年次有給休暇 ", "annual leave "])
@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_search_of_100_000_characters_finishes(services, letters, mode):
    rng = random.Random(5)
    query = "".join(rng.choices(letters, k=100_000))
    started = time.monotonic()
    services.search.search(LOCAL_USER, query, mode=mode)
    assert time.monotonic() - started < 20


WORDS = [
    "서버",
    "배포",
    "휴가",
    "규정",
    "신청",
    "승인",
    "장애",
    "대응",
    "보안",
    "점검",
    "회의",
    "기록",
]
SIZE = 50 * 2**20


@pytest.mark.slow
def test_a_text_of_50_megabytes_is_imported_within_limits(footnote, tmp_path):
    """Uses a model that skips Korean: embedding this much text would take hours."""
    footnote.environment["FOOTNOTE_EMBEDDING_MODEL"] = "all-MiniLM-L6-v2"
    rng = random.Random(7)
    folder = tmp_path / "big"
    folder.mkdir()
    lines = [f"{' '.join(rng.choices(WORDS, k=60))} 합니다.\n" for _ in range(1000)]
    with (folder / "big.txt").open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < SIZE:
            file.write(f"{number}번 항목은 {lines[number % 1000]}")
            number += 1
    code, seconds, peak_mib = measure(footnote, "import", folder)
    assert code == 0
    assert seconds < 240
    assert peak_mib < 1500
    hits = json.loads(footnote.run("search", "7777번", "--mode", "bm25", "--json").stdout)
    assert "7777번" in hits[0]["text"]


MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measure(footnote, *arguments):
    """Exit code, seconds, and peak memory in MiB of a command.

    A small process starts the command: until exec, a child counts the memory of the process it
    was forked from, and the test process has loaded every model.
    """
    started = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, *footnote.command(*arguments)],
        cwd=footnote.home,
        env=footnote.environ(),
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
        check=True,
    )
    code, peak = map(int, result.stdout.splitlines()[-1].split())
    per_mib = 2**20 if sys.platform == "darwin" else 2**10
    return code, time.monotonic() - started, peak / per_mib
