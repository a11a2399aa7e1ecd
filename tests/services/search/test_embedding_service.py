import pytest

from domain import LOCAL_USER
from errors import ConflictError, ModelError
from tests.fakes.openai import EMBEDDING_MODEL, Fault


def embedded(services, *texts, **more):
    return services.embedding.embed(LOCAL_USER, texts, **more)


def test_before_the_first_import_the_settings_say_what_embeds(build_services):
    service = build_services(embed=True).embedding
    assert service.model == EMBEDDING_MODEL
    assert len(service.embed(LOCAL_USER, ["one", "two"])) == 2


def test_the_index_that_answers_says_it_whatever_the_settings_are(imported, build_services):
    before = embedded(imported(embed=True), "leave")
    other = build_services()
    assert other.embedding.model == EMBEDDING_MODEL
    assert embedded(other, "leave") == before


def test_questions_are_embedded_as_such(build_services, model_server):
    services = build_services(embed=True)
    assert embedded(services, "leave", as_questions=True) == embedded(services, "leave")
    asked = [one.body["input"] for one in model_server.requests]
    assert asked == [["leave"], ["leave"]]


def test_vectors_are_not_shortened(build_services):
    services = build_services(embed=True)
    assert len(embedded(services, "leave", dimensions=8)[0]) == 8
    with pytest.raises(ConflictError, match="have 8 and"):
        embedded(services, "leave", dimensions=4)


def test_a_model_that_fails_says_so(build_services, model_server):
    model_server.will_embed(Fault(401, "wrong key"))
    with pytest.raises(ModelError):
        embedded(build_services(embed=True), "leave")
