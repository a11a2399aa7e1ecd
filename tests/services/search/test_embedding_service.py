import pytest

from domain import LOCAL_USER
from domain.errors import ModelError
from services.search.embedding_service import WrongDimensionsError
from tests.fakes.openai import EMBEDDING_MODEL, Fault


def embed(services, *texts, **options):
    return services.embedding.embed(LOCAL_USER, texts, **options)


def test_before_the_first_import_the_model_of_the_settings_is_used(build_services):
    service = build_services(embed=True).embedding
    assert service.model == EMBEDDING_MODEL
    assert len(service.embed(LOCAL_USER, ["one", "two"])) == 2


def test_the_model_of_the_active_index_overrides_the_settings(imported, build_services):
    before = embed(imported(embed=True), "leave")
    other = build_services()
    assert other.embedding.model == EMBEDDING_MODEL
    assert embed(other, "leave") == before


def test_a_model_without_prefixes_embeds_questions_like_texts(build_services, model_server):
    services = build_services(embed=True)
    assert embed(services, "leave", as_questions=True) == embed(services, "leave")
    inputs = [one.body["input"] for one in model_server.requests]
    assert inputs == [["leave"], ["leave"]]


def test_other_dimensions_than_those_of_the_model_are_rejected(build_services):
    services = build_services(embed=True)
    assert len(embed(services, "leave", dimensions=8)[0]) == 8
    with pytest.raises(WrongDimensionsError, match="have 8 dimensions and"):
        embed(services, "leave", dimensions=4)


def test_a_failing_model_raises_an_error(build_services, model_server):
    model_server.will_embed(Fault(401, "wrong key"))
    with pytest.raises(ModelError):
        embed(build_services(embed=True), "leave")
