"""A document that exceeds a limit, or crashes its reader, is named; the next one is read."""

import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from domain.errors import SourceUnavailableError, TemporarilyUnreadableError, UnreadableError
from domain.messages import Message
from loaders import document_reader
from loaders.confluence.confluence_loader import read_storage
from loaders.document_reader import Limits, ReaderProcess, draw_page, read_document
from tests.loaders import hostile_files
from tests.loaders.reader_programs import program
from tests.loaders.test_programs import is_alive, wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def limit(monkeypatch):
    """Reads documents and draws pages with these limits."""
    started = []

    def start(**limits):
        process = ReaderProcess(Limits(**limits))
        started.append(process)
        monkeypatch.setattr(document_reader, "DOCUMENTS", process)
        monkeypatch.setattr(document_reader, "PICTURES", process)
        return process

    yield start
    for process in started:
        process.end()


@pytest.fixture
def misbehave(limit, monkeypatch, tmp_path):
    """Replaces the program of the reader process by one that executes this for bad.txt."""

    def replace(behavior, **limits):
        path = tmp_path / "reader.py"
        path.write_text(program(behavior), encoding="utf-8")
        monkeypatch.setattr(document_reader, "_MAIN", path)
        return limit(**limits)

    return replace


def pid_of(process):
    return process._child._process.pid


def require_reading():
    assert read_document("next.txt", b"The next document.").page_content == "The next document."


def with_pages(pages):
    """A reply with these pages, as a Python expression, for a text of three characters."""
    return f"write_frame(out, {{'result': METADATA | {{'pages': {pages}}}}}, data); continue"


HOSTILE = {
    "shared-stream.pdf": hostile_files.pdf_with_shared_stream(),
    "spans.html": hostile_files.html_with_spans(),
    "nested.html": hostile_files.html_with_nested_tags(),
    "elements.xml": hostile_files.xml_with_elements(),
    "lists.json": hostile_files.json_with_lists(),
}


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "name",
    ["shared-stream.pdf", "lists.json", *map(slow, ["spans.html", "nested.html", "elements.xml"])],
)
def test_a_document_that_takes_too_long_is_stopped(limit, name):
    limit(processor_s=1, memory_mib=4096)
    with pytest.raises(UnreadableError, match="more than 1 s of processor time: split it"):
        read_document(name, HOSTILE[name])
    require_reading()


@pytest.mark.parametrize("name", ["spans.html", *map(slow, ["elements.xml", "lists.json"])])
def test_a_document_that_takes_too_much_memory_is_stopped(limit, name):
    limit(memory_mib=160)
    with pytest.raises(UnreadableError, match=r"more than \d+ MiB of memory: split it"):
        read_document(name, HOSTILE[name])
    require_reading()


def test_a_document_with_too_much_text_is_rejected(limit):
    limit(text_mib=1)
    cell = b"words " * 2_000
    page = b"<table><tr><td rowspan=200>" + cell + b"<td>x" + b"<tr><td>x" * 199
    with pytest.raises(UnreadableError, match="more than 1 million characters"):
        read_document("a.html", page)
    assert len(read_document("a.txt", b"x" * 3 * 2**20).page_content) == 3 * 2**20


@pytest.mark.slow
def test_drawing_a_page_has_a_limit(limit):
    limit(processor_s=1, memory_mib=4096)
    with pytest.raises(UnreadableError, match="more than 1 s of processor time"):
        draw_page(hostile_files.pdf_with_shared_stream(1, 100 * 2**20), 1)
    require_reading()


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "failed (SIGSEGV)"),
        ("os.abort()", "failed (SIGABRT)"),
        ("sys.exit(3)", "failed (exit code 3)"),
        ("out.write(b'x' * 100); out.flush(); time.sleep(60)", "failed (invalid reply)"),
        ("while True: out.write(bytes([127]) * 2**20)", "failed (invalid reply)"),
        ("write_frame(out, {'result': 1}, bytes(2**28)); continue", "failed (invalid reply)"),
        ("write_frame(out, {'error': 'SystemExit', 'message': ''})", "failed (invalid reply)"),
        (
            "write_frame(out, {'error': 'UnreadableError', 'message': [1]})",
            "failed (invalid reply)",
        ),
        ("write_frame(out, {'question': ['page', ['x']]})", "failed (invalid reply)"),
        ("write_frame(out, {'result': None}); continue", "failed (invalid reply)"),
        ("write_frame(out, {'result': {'title': 1}}); continue", "failed (invalid reply)"),
        (with_pages("[[float('inf'), 1]]"), "failed (invalid reply)"),
        (with_pages("[[4, 1]]"), "failed (invalid reply)"),
        (with_pages("[[-1, 1]]"), "failed (invalid reply)"),
        (with_pages("[[2, 1], [1, 2]]"), "failed (invalid reply)"),
        (with_pages("[[0, 10**30]]"), "failed (invalid reply)"),
    ],
)
def test_a_document_that_makes_its_reader_fail_is_named_and_the_next_is_read(
    misbehave, behavior, reason
):
    misbehave(behavior)
    require_reading()
    with pytest.raises(UnreadableError) as failure:
        read_document("bad.txt", b"bad")
    assert reason in str(failure.value)
    assert "import the new file" in str(failure.value)
    require_reading()


def test_a_document_whose_reader_is_stopped_with_the_service_is_read_again_later(misbehave):
    misbehave("os.kill(os.getpid(), signal.SIGTERM)")
    with pytest.raises(TemporarilyUnreadableError, match="reads the document again"):
        read_document("bad.txt", b"bad")
    require_reading()


def test_a_document_that_makes_its_reader_wait_forever_is_stopped(misbehave, monkeypatch):
    monkeypatch.setattr(document_reader, "_IDLE_S", 0.5)  # how often deadlines are checked
    misbehave("time.sleep(600)", elapsed_s=1.5)
    with pytest.raises(UnreadableError, match=r"longer than 0\.025 minutes: split it"):
        read_document("bad.txt", b"bad")
    require_reading()


@pytest.mark.parametrize(
    "template",
    ["{a:>9999999999}", "{a.__class__}", "{a!r}", "{a[0]}", "{b}", "{", "{a}" * 2_000_000],
)
def test_a_message_of_the_reader_is_only_filled_in(misbehave, template):
    """Format strings can read attributes and allocate any memory."""
    message = {"message": template, "values": {"a": "text"}}
    misbehave(f"write_frame(out, {{'error': 'UnreadableError', 'message': {message!r}}}); continue")
    with pytest.raises(UnreadableError, match=r"failed \(invalid reply\)"):
        read_document("bad.txt", b"bad")
    require_reading()


def test_messages_keep_their_templates_for_translation(limit):
    limit()
    with pytest.raises(UnreadableError) as failure:
        read_document("a.mp3", b"x")
    message = failure.value.args[0]
    assert isinstance(message, Message)
    assert message.template == "Footnote does not read {suffix} files yet"
    assert message.values == {"suffix": ".mp3"}


def test_reasons_to_retry_survive(limit):
    """An import retries a document whose error was caused by the operating system."""
    limit()
    with pytest.raises(UnreadableError) as failure:
        read_document("a.odt", b"PK\3\4 damaged")
    assert not failure.value.retryable
    assert failure.value.__cause__ is None


def test_a_reader_that_cannot_be_started_is_a_transient_error(limit, monkeypatch, tmp_path):
    limit()
    monkeypatch.setattr(document_reader, "_MAIN", tmp_path / "missing.py")
    with pytest.raises(TemporarilyUnreadableError, match="could not be started"):
        read_document("a.txt", b"text")
    monkeypatch.undo()


def test_a_reader_that_does_not_become_ready_is_a_transient_error(limit, monkeypatch, tmp_path):
    limit()
    path = tmp_path / "reader.py"
    path.write_text("import time; time.sleep(600)", encoding="utf-8")
    monkeypatch.setattr(document_reader, "_MAIN", path)
    monkeypatch.setattr(document_reader, "_START_S", 0.3)
    with pytest.raises(TemporarilyUnreadableError, match="could not be started"):
        read_document("a.txt", b"text")


def test_documents_share_a_process_that_ends_when_it_is_idle(limit, monkeypatch):
    process = limit()
    require_reading()
    first = pid_of(process)
    require_reading()
    assert pid_of(process) == first
    folder = Path(process._child._folder.name)
    monkeypatch.setattr(document_reader, "_IDLE_S", 0.05)
    process.end()
    require_reading()
    second = pid_of(process)
    assert not is_alive(first)
    assert not folder.exists()
    folder = Path(process._child._folder.name)
    assert wait_until(lambda: not Path(f"/proc/{second}").exists())
    assert wait_until(lambda: not folder.exists())
    require_reading()


def test_a_process_that_took_much_memory_is_replaced(limit):
    process = limit(memory_mib=2048)
    require_reading()
    first = pid_of(process)
    read_document("a.txt", "😀".encode() + b"x" * 40 * 2**20)  # four bytes per character
    assert process._child is None
    require_reading()
    assert pid_of(process) != first


@pytest.mark.slow
def test_an_error_of_a_large_document_does_not_blame_the_next_one(limit):
    process = limit()
    with pytest.raises(UnreadableError):
        read_document("large.pdf", b"%PDF-1.4 damaged" + bytes(120 * 2**20))
    assert process._child is None
    with pytest.raises(UnreadableError, match="damaged"):
        read_document("small.pdf", b"%PDF-1.4 damaged")


def test_the_process_does_not_inherit_keys(misbehave, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    misbehave("data = repr(dict(os.environ)).encode()")
    environment = read_document("bad.txt", b"bad").page_content
    assert "PATH" in environment
    assert "secret-1" not in environment


BUSY_PARENT = """
import sys
from loaders import document_reader
if len(sys.argv) > 1:
    from pathlib import Path
    document_reader._MAIN = Path(sys.argv[1])
document_reader.read_document("a.txt", b"text")
child = document_reader.DOCUMENTS._child
print(child._process.pid, child._folder.name, flush=True)
if len(sys.argv) > 1:
    document_reader.read_document("bad.txt", b"bad")
else:
    document_reader.read_document("a.xml", b"<a>" + b"<b>x</b>" * 8_000_000 + b"</a>")
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_reader_ends_with_its_parent_while_it_is_reading(signal_number):
    restore = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    parent = subprocess.Popen(
        [sys.executable, "-c", restore + BUSY_PARENT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        pid, folder = parent.stdout.readline().split()
        assert is_alive(int(pid))
        parent.send_signal(signal_number)
        parent.wait(10)
    finally:
        parent.kill()
        parent.stdout.close()
    assert wait_until(lambda: not is_alive(int(pid)))
    assert wait_until(lambda: not Path(folder).exists())


def test_an_interruption_ends_the_reader(misbehave):
    class Alarm(Exception):
        pass

    def raise_alarm(*_):
        raise Alarm

    process = misbehave("time.sleep(600)")
    require_reading()
    pid = pid_of(process)
    previous = signal.signal(signal.SIGALRM, raise_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Alarm):
            read_document("bad.txt", b"bad")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert not is_alive(pid)
    require_reading()


class SomeLinks:
    def page(self, space_key, title, anchor):
        return f"https://example.org/{space_key}/{title}{anchor}"

    def user(self, account):
        if account == "unavailable":
            raise SourceUnavailableError("no connection")
        return f"The person {account}"


PAGE = (
    "<p>See <ac:link><ri:page ri:content-title='Leave' /></ac:link>, "
    "<ac:link><ri:user ri:account-id='{account}' /></ac:link></p>"
)


def test_links_of_a_page_are_resolved_in_this_process(limit):
    limit()
    text = read_storage(PAGE.format(account="42"), SomeLinks())
    assert text == "See [Leave](https://example.org/None/Leave), The person 42"


def test_waiting_for_a_link_does_not_count_as_reading(limit):
    process = limit()

    class SlowLinks(SomeLinks):
        def user(self, account):
            self.deadline = process._child._deadline
            return super().user(account)

    links = SlowLinks()
    read_storage(PAGE.format(account="42"), links)
    assert links.deadline == math.inf
    assert process._child._deadline < math.inf


def test_an_error_of_a_link_is_raised_and_the_next_page_is_read(limit):
    limit()
    with pytest.raises(SourceUnavailableError, match="no connection"):
        read_storage(PAGE.format(account="unavailable"), SomeLinks())
    assert read_storage("<p>text</p>", SomeLinks()) == "text"


@pytest.mark.parametrize("question", ["['__class__', []]", "['page', [{}]]", "['page']", "3"])
def test_only_questions_about_links_are_answered(misbehave, question):
    ask = f"write_frame(out, {{'question': {question}}}); read_frame(sys.stdin.buffer); continue"
    process = misbehave("pass")
    path = document_reader._MAIN
    path.write_text(path.read_text().replace('header["arguments"]["name"]', f"0; {ask}"))
    with pytest.raises(UnreadableError, match=r"failed \(invalid reply\)"):
        read_storage("<p>text</p>", SomeLinks())
    assert process._child is None
