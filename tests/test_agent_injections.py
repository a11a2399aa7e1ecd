"""Documents that make an agent call tools: nothing outside the scope of the question is read."""

import pytest

import bootstrap
from domain import LOCAL_USER, Principal, Scope, SearchChoice, StepState
from settings import load_settings
from tests.conftest import TEST_CLIENT
from tests.fakes.openai import MODEL, serving
from tests.injections.cases import IN_TOOLS, obedient, prompt_of, write_documents
from tests.injections.guarantees import (
    require_doubt,
    require_inert_answer,
    require_inert_exports,
    require_no_secret,
    require_true_evidence,
)

TOOLS = {"search_documents", "ask_documents", "open_document", "list_sources"}
OTHER = Principal("another user")
SECRET = "# Salaries of the board\n\nThe chair of the board earns 912,345 euros."
OTHERS = "# Diary\n\nWilhelmina hides the spare key under the fern."
EARLIER = "# Offer\n\nThe earlier offer was 77,001 euros."
SECRETS = ["912,345", "under the fern", "77,001"]


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("agent")
    for folder in ("data", "board"):
        (root / folder).mkdir()
    write_documents(root / "open", IN_TOOLS)
    (root / "board" / "salaries.md").write_text(SECRET, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def services(root, model_cache, server):
    """A library with two folders, and files in conversations of two users."""
    (root / "data" / "cache").symlink_to(model_cache)
    services = bootstrap.build_services(
        load_settings(
            data_dir=root / "data",
            allowed_hosts=TEST_CLIENT,
            openai_base_url=server.url,
            chat_model=MODEL,
        )
    )
    for folder in ("open", "board"):
        services.directories.import_directory(LOCAL_USER, root / folder)
    for user, name, text in ((OTHER, "diary.md", OTHERS), (LOCAL_USER, "offer.md", EARLIER)):
        conversation = services.conversations.begin(user, name)
        files = [(name, text.encode())]
        box = services.uploads.add(user, files, conversation_id=conversation.id).source_id
        services.worker.wait(user, services.queue.enqueue(user, box).id)
    return services


@pytest.fixture(scope="module")
def ids(services):
    """The ids of the documents that the orders name."""
    by_key = {one.key: one.id for one in services.library.documents.list()}
    keys = {"{secret}": "salaries.md", "{other}": "diary.md", "{file}": "offer.md"}
    return {name: by_key[key] for name, key in keys.items()}


@pytest.mark.parametrize("case", IN_TOOLS, ids=lambda case: case.id)
def test_an_agent_that_obeys_stays_within_its_tools_and_its_scope(
    services, server, root, ids, case
):
    server.answer = obedient(case, lambda text: ids.get(text, text))
    server.requests.clear()
    before = [status.source.name for status in services.sources.list(LOCAL_USER)]
    turn = services.chat.ask(
        LOCAL_USER, case.question, search=SearchChoice(Scope([str(root / "open")]), by_agent=True)
    )
    prompts = [prompt_of(request.body) for request in server.requests]
    assert any(case.order in prompt for prompt in prompts)
    assert case.is_obeyed_in(turn.answer) or turn.error
    assert len(turn.steps) == 1 + len(case.calls) or turn.error
    for step in turn.steps:
        assert step.tool in TOOLS or step.state is StepState.FAILED
    assert {one.location.rpartition("/")[0] for one in turn.sources} <= {str(root / "open")}
    texts = [step.result for step in turn.steps] + [one.text for one in turn.sources]
    require_no_secret([turn.answer, *prompts, *texts], SECRETS)
    require_inert_answer(turn)
    require_true_evidence(services, turn)
    require_doubt(case, turn)
    require_inert_exports(services, turn)
    assert [status.source.name for status in services.sources.list(LOCAL_USER)] == before
