"""Embedding models that return NaN or vectors of a different length.

Each is a clear error, or the index continues with its own model; never a wrong answer.
"""

import math

import pytest

from domain import LOCAL_USER, ImportState, SearchMode
from domain.errors import AppError, ModelError
from tests.fakes.openai import Vectors
from tests.fakes.openai_wire import DIMENSION

pytestmark = pytest.mark.slow

QUESTION = "annual leave of new employees"
MODES = list(SearchMode)
DENSE = [mode for mode in MODES if mode is not SearchMode.BM25]
NAN = math.nan


@pytest.fixture
def library(imported):
    return imported(embed=True)


@pytest.mark.parametrize("number", [NAN, math.inf], ids=["NaN", "infinity"])
@pytest.mark.parametrize("mode", DENSE)
def test_a_nan_query_vector_is_an_error_that_names_the_model(
    library, build_services, model_server, mode, number
):
    before = ids(library.search.search(LOCAL_USER, QUESTION, mode=mode))
    services = build_services(embed=True)  # a new process has not embedded the question yet
    model_server.will_embed(vectors(1, number))
    with pytest.raises(ModelError, match="FOOTNOTE_EMBEDDING_MODEL"):
        services.search.search(LOCAL_USER, QUESTION, mode=mode)
    assert ids(services.search.search(LOCAL_USER, QUESTION, mode=mode)) == before


@pytest.mark.parametrize("number", [NAN, math.inf], ids=["NaN", "infinity"])
def test_documents_with_nan_vectors_are_not_imported(
    build_services, handbook, model_server, number
):
    services = build_services(embed=True)
    passages = 5
    model_server.will_embed(vectors(passages, number))
    with pytest.raises(ModelError, match="FOOTNOTE_EMBEDDING_MODEL"):
        services.directories.import_directory(LOCAL_USER, handbook)
    model_server.embeddings.clear()
    report = services.directories.import_directory(LOCAL_USER, handbook)
    assert report.state is ImportState.COMPLETED
    assert services.maintenance.check(LOCAL_USER).agrees
    [hit] = services.search.search(LOCAL_USER, "WireGuard", mode=SearchMode.BM25)
    assert hit.metadata["key"] == "vpn.md"


def vectors(count, number, length=DIMENSION):
    return Vectors(((number,) + (0.5,) * (length - 1),) * count)


# Two dimensions


@pytest.mark.parametrize("mode", DENSE)
def test_a_changed_vector_length_is_an_error_with_a_remedy(
    imported, build_services, model_server, mode
):
    imported(embed=True)
    model_server.will_embed(vectors(1, 0.5, length=16))
    services = build_services(embed=True)  # a new process does not know the length yet
    with pytest.raises(AppError, match="length 16 .* length 8.*reindex"):
        services.search.search(LOCAL_USER, QUESTION, mode=mode)
    assert services.search.search(LOCAL_USER, "WireGuard", mode=SearchMode.BM25)


def test_an_import_with_a_changed_vector_length_keeps_the_old_passages(
    imported, build_services, handbook, model_server
):
    imported(embed=True)
    (handbook / "new.md").write_text("Rule one: keep the door shut.")
    model_server.will_embed(vectors(1, 0.5, length=16))
    services = build_services(embed=True)
    with pytest.raises(AppError, match="length 16 .* length 8.*reindex"):
        services.directories.import_directory(LOCAL_USER, handbook)
    later = build_services(embed=True)
    assert later.maintenance.check(LOCAL_USER).agrees
    later.directories.import_directory(LOCAL_USER, handbook)
    assert later.search.search(LOCAL_USER, "door", mode=SearchMode.BM25)
    assert later.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize("mode", [mode for mode in MODES if "threshold" not in mode])
def test_an_index_keeps_its_vector_length_until_a_reindex(imported, build_services, mode):
    def search_ids(services):
        return ids(services.search.search(LOCAL_USER, "WireGuard", mode=mode, k=100))

    before = search_ids(imported(embed=True))
    other = build_services(embed=True, embedding_dimensions=16)
    assert "reindex" in other.maintenance.status(LOCAL_USER).message
    assert search_ids(other) == before
    other.maintenance.reindex(LOCAL_USER)
    assert set(search_ids(other)) == set(before)
    assert other.maintenance.check(LOCAL_USER).agrees


def ids(passages):
    return [passage.id for passage in passages]
