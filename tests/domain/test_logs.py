import json
import logging
import threading
from contextvars import copy_context

import pytest

from domain import logs
from domain.logs import (
    configure_logs,
    get_logger,
    log_context,
    outgoing_request,
    with_log_context,
)

SECRET = "hunter2-Zq8"


@pytest.fixture(autouse=True)
def _restore_logging(monkeypatch):
    monkeypatch.setattr(logs, "_known", ())
    root, ours = logging.getLogger(), logging.getLogger("footnote")
    handlers, observers = root.handlers[:], ours.handlers[:]
    ours.handlers[:] = []  # a test of a server may have left one that counts lines
    yield
    root.handlers[:], ours.handlers[:] = handlers, observers


@pytest.fixture(params=["text", "json"])
def log(request, capsys):
    """A function that configures logging and returns a reader of stderr, for both formats."""

    def configure(level="debug", secrets=()):
        configure_logs(level, request.param, secrets)
        return lambda: capsys.readouterr().err

    configure.format = request.param
    return configure


def json_lines(stderr):
    return [json.loads(line) for line in stderr.splitlines()]


def test_a_line_of_text_has_time_level_logger_event_and_fields(capsys):
    configure_logs("info", "text", ())
    with log_context(import_id="i1"):
        get_logger("imports").info("import finished", documents=12, source="a b", none=None)
    time, rest = capsys.readouterr().err.split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'INFO    imports: import finished import_id=i1 documents=12 source="a b"\n'


def test_a_line_of_json_has_the_same_fields(capsys):
    configure_logs("info", "json", ())
    with log_context(import_id="i1"):
        get_logger("imports").info("import finished", documents=12, stages={"listing": 1.5})
    (line,) = json_lines(capsys.readouterr().err)
    assert line.pop("time").endswith("Z")
    assert line.pop("pid")
    assert line == {
        "level": "info",
        "logger": "imports",
        "event": "import finished",
        "import_id": "i1",
        "documents": 12,
        "stages": {"listing": 1.5},
    }


def test_no_line_shows_a_secret(log):
    stderr = log(secrets=[SECRET])
    logger, url = get_logger("test"), f"https://ann:other-pass@host/?sig=also-Secret&token={SECRET}"
    headers = {"Authorization": "Bearer third-Secret", "Cookie": "id=fourth-Secret"}
    logger.warning("Can't reach %s", url, headers=headers, key=SECRET, password="fifth")
    with log_context(url=url), outgoing_request("GET", url, headers=headers):
        logger.info(f"It has {headers}")
    try:
        int(f"{url} with {headers} and {SECRET}")
    except ValueError:
        logger.exception("It failed")
        logging.getLogger("some.library").exception("A library failed on %s", url)
    text = stderr()
    assert "It failed" in text
    assert "A library failed" in text
    for secret in (SECRET, "other-pass", "also-S", "third-S", "fourth-S", "fifth"):
        assert secret not in text


def test_the_level_applies_to_our_loggers_and_libraries_log_only_warnings(log):
    stderr = log("info")
    get_logger("test").debug("no")
    get_logger("test").info("ours")
    logging.getLogger("some.library").info("no")
    logging.getLogger("some.library").warning("theirs")
    text = stderr()
    assert "ours" in text
    assert "theirs" in text
    assert text.count("\n") == 2


def test_configuring_again_replaces_the_handler(log):
    log("debug")
    stderr = log("info")
    get_logger("test").debug("no")
    get_logger("test").info("once")
    assert stderr().count("\n") == 1


def test_a_text_cannot_forge_another_log_line(log):
    stderr = log("info")
    get_logger("test").info("two\nlines", name='a\n2026 "b" c=d')
    assert stderr().count("\n") == 1


def test_the_fields_of_a_generator_do_not_leak_to_its_consumer(capsys):
    configure_logs("info", "json", ())
    logger = get_logger("test")

    def work():
        try:
            logger.info("inside")
            yield 1
            logger.info("inside")
            yield 2
        finally:
            logger.info("inside")

    consumer = with_log_context(work(), question_id="q1")
    assert next(consumer) == 1
    logger.info("outside")
    consumer.close()
    lines = json_lines(capsys.readouterr().err)
    assert [line.get("question_id") for line in lines] == ["q1", None, "q1"]


def test_the_fields_reach_a_thread_that_runs_in_the_context(capsys):
    configure_logs("info", "json", ())
    with log_context(request_id="r1"):
        thread = threading.Thread(target=copy_context().run, args=[get_logger("test").info, "x"])
        thread.start()
        thread.join()
    assert json_lines(capsys.readouterr().err)[0]["request_id"] == "r1"


def test_an_outgoing_request_is_logged_as_one_line_at_debug(capsys):
    configure_logs("debug", "json", ())
    with outgoing_request("GET", "https://ann:pw@wiki.org:8/rest/page?cql=salary") as sent:
        sent.status = 200
    with log_context(attempt=3), pytest.raises(OSError), outgoing_request("PUT", "http://h/x"):
        raise OSError("reset")
    first, second = json_lines(capsys.readouterr().err)
    assert first["ms"] >= 0
    assert (first["level"], first["method"], first["host"], first["path"], first["status"]) == (
        "debug",
        "GET",
        "wiki.org:8",
        "/rest/page",
        200,
    )
    assert "salary" not in str(first)
    assert (first["attempt"], second["attempt"]) == (1, 3)
    assert (second["status"], second["error"]) == (None, "OSError")


def test_nothing_is_written_to_standard_output(capsys):
    configure_logs("debug", "text", ())
    get_logger("test").error("problem")
    assert capsys.readouterr().out == ""
