"""The forecast of passages in documents that have not been read."""

from domain import DocumentRef
from services.imports.import_forecast import PassageForecast


def ref(key, size=0):
    return DocumentRef(key, "1", key, size=size)


def test_a_dry_run_determines_the_passages_of_its_documents():
    refs = [ref("a.pdf", 900_000), ref("b.pdf", 1000)]
    forecast = PassageForecast(refs, {"a.pdf": 7, "b.pdf": 500})
    assert forecast.rest == 507
    forecast.note(refs[1], 480)
    assert forecast.rest == 7


def test_large_files_have_more_passages_than_small_ones_from_the_start():
    small, large = PassageForecast([ref("a.txt", 1000)]), PassageForecast([ref("a.txt", 50_000)])
    assert large.rest == 50 * small.rest > 0


def test_documents_that_were_read_determine_the_passages_per_byte_of_their_format():
    refs = [ref("a.pdf", 1000), ref("b.pdf", 5000), ref("c.txt", 2000)]
    forecast = PassageForecast(refs)
    forecast.note(refs[0], 30)
    forecast.note(refs[2], 4)
    assert forecast.rest == 150


def test_documents_of_unknown_size_have_as_many_passages_as_others_on_average():
    refs = [ref(f"page {n}") for n in range(10)]
    forecast = PassageForecast(refs)
    forecast.note(refs[0], 6)
    forecast.note(refs[1], 0)
    assert forecast.rest == 8 * 3


def test_nothing_is_left_after_the_last_document():
    refs = [ref("a.txt", 10), ref("b.pdf", 10), ref("page")]
    forecast = PassageForecast(refs, {"b.pdf": 4})
    for one in refs:
        forecast.note(one, 5)
    assert forecast.rest == 0
