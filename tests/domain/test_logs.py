import json
import logging
import threading
from contextvars import copy_context

import pytest

from domain import redaction
from domain.logs import (
    configure_logs,
    get_logger,
    log_context,
    outgoing_request,
    with_log_context,
)

SECRET = "hunter2-Zq8"


@pytest.fixture(autouse=True)
def _logging_as_before(monkeypatch):
    monkeypatch.setattr(redaction, "_known", ())
    root, ours = logging.getLogger(), logging.getLogger("footnote")
    handlers, level = root.handlers[:], ours.level
    yield
    root.handlers[:] = handlers
    ours.setLevel(level)


@pytest.fixture(params=["text", "json"])
def log(request, capsys):
    """Configures logs in both formats and gives what was written to stderr."""

    def configured(level="debug", secrets=()):
        configure_logs(level, request.param, secrets)
        return lambda: capsys.readouterr().err

    configured.format = request.param
    return configured


def json_lines(written):
    return [json.loads(line) for line in written.splitlines()]


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
    written = log(secrets=[SECRET])
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
    text = written()
    assert "It failed" in text
    assert "A library failed" in text
    for secret in (SECRET, "other-pass", "also-S", "third-S", "fourth-S", "fifth"):
        assert secret not in text


def test_a_level_applies_to_ours_and_libraries_warn_at_least(log):
    written = log("info")
    get_logger("test").debug("no")
    get_logger("test").info("ours")
    logging.getLogger("some.library").info("no")
    logging.getLogger("some.library").warning("theirs")
    text = written()
    assert "ours" in text
    assert "theirs" in text
    assert text.count("\n") == 2


def test_configuring_again_replaces_the_handler(log):
    log("debug")
    written = log("info")
    get_logger("test").debug("no")
    get_logger("test").info("once")
    assert written().count("\n") == 1


def test_a_text_can_not_pretend_to_be_another_line(log):
    written = log("info")
    get_logger("test").info("two\nlines", name='a\n2026 "b" c=d')
    assert written().count("\n") == 1


def test_fields_of_a_generator_are_not_those_of_its_reader(capsys):
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

    reader = with_log_context(work(), question_id="q1")
    assert next(reader) == 1
    logger.info("outside")
    reader.close()
    lines = json_lines(capsys.readouterr().err)
    assert [line.get("question_id") for line in lines] == ["q1", None, "q1"]


def test_the_fields_reach_a_thread_with_the_context(capsys):
    configure_logs("info", "json", ())
    with log_context(request_id="r1"):
        thread = threading.Thread(target=copy_context().run, args=[get_logger("test").info, "x"])
        thread.start()
        thread.join()
    assert json_lines(capsys.readouterr().err)[0]["request_id"] == "r1"


def test_an_outgoing_request_is_one_line_at_debug(capsys):
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


def test_nothing_goes_to_standard_output(capsys):
    configure_logs("debug", "text", ())
    get_logger("test").error("problem")
    assert capsys.readouterr().out == ""
