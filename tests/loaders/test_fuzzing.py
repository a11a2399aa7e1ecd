"""A fixed share of the damaged files that `python -m tests.fuzz` reads."""

from collections import Counter
from types import SimpleNamespace

import pytest

from domain.errors import UnreadableError
from loaders import document_reader
from tests.fuzz import reading
from tests.fuzz.__main__ import mutants_of, run
from tests.fuzz.reading import Mutant, outcome_of
from tests.fuzz.seeds import SLOW, STORAGE, formats, seed_of

MUTANTS = 400
SEED = 1


@pytest.fixture
def no_children(monkeypatch):
    """No memory is counted of the processes that other tests started from this one."""
    usage = SimpleNamespace(ru_maxrss=0)
    monkeypatch.setattr(reading.resource, "getrusage", lambda _whose: usage)


@pytest.mark.parametrize(
    "suffix", [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in formats()]
)
def test_an_undamaged_file_of_each_format_is_read(suffix):
    name = "a.html" if suffix == STORAGE else f"a{suffix}"
    assert document_reader.read_document(name, seed_of(suffix)).page_content.strip()


def test_the_mutants_are_spread_over_all_formats_and_repeatable():
    mutants = list(mutants_of(20_000, SEED, formats()))
    counts = Counter(one.suffix for one in mutants)
    assert len(mutants) == 20_000
    assert min(counts[one] for one in formats(slow=False)) > 700
    assert all(counts[one] for one in formats())
    assert [Mutant(".pdf", n, 1).data() for n in range(9)] == [
        Mutant(".pdf", n, 1).data() for n in range(9)
    ]
    assert len({Mutant(".docx", n, 1).data() for n in range(50)}) > 45


@pytest.mark.slow
def test_damaged_files_are_read_or_rejected_in_the_reader_process(tmp_path):
    mutants = list(mutants_of(MUTANTS, SEED, formats(slow=False)))
    assert run(mutants, 2, tmp_path) == 0


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("error", [ValueError("x"), MemoryError(), UnreadableError("no")])
def test_another_error_than_the_documented_one_is_noticed(error, monkeypatch):
    def read(name, data):
        raise error

    monkeypatch.setattr(document_reader, "read_document", read)
    outcome = outcome_of(Mutant(".txt", 3, SEED))
    assert (outcome.kind == "failed") is not isinstance(error, UnreadableError)


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize(("text", "kind"), [("a\r\nb", "failed"), ("  ", "failed"), ("a", "text")])
def test_a_text_that_is_not_clean_is_noticed(text, kind, monkeypatch):
    class Read:
        page_content = text

    monkeypatch.setattr(document_reader, "read_document", lambda name, data: Read)
    assert outcome_of(Mutant(".txt", 3, SEED)).kind == kind
