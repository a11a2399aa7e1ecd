"""Documents that give orders, and a real chat model that may follow them.

The guarantees are those of `tests/test_prompt_injections.py`. The last line of the output says how
often the model did what a document ordered.
"""

import pytest

import bootstrap
from domain import LOCAL_USER
from settings import load_settings
from tests.injections.cases import IN_ANSWERS, prompt_of, write_documents
from tests.injections.guarantees import (
    require_inert_answer,
    require_inert_exports,
    require_no_secret,
    require_true_evidence,
)

pytestmark = [pytest.mark.chat_model, pytest.mark.timeout(1200)]

MOST_TOKENS = 64
EXTRACT = "\n\n**The text above cites nothing"


@pytest.fixture(scope="module")
def hostile_library(tmp_path_factory, model_cache):
    """A data folder with the documents of all cases."""
    root = tmp_path_factory.mktemp("injections")
    (root / "data").mkdir()
    (root / "data" / "cache").symlink_to(model_cache)
    write_documents(root / "files", IN_ANSWERS)
    services = bootstrap.build_services(load_settings(data_dir=root / "data"))
    services.directories.import_directory(LOCAL_USER, root / "files")
    return root / "data"


@pytest.fixture(scope="module")
def obeyed(request):
    """The ids of the cases in which the model obeyed, which are reported at the end."""
    outcomes: dict[str, bool] = {}
    yield outcomes
    names = [id_ for id_, is_obeyed in outcomes.items() if is_obeyed]
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nobeyed in {len(names)} of {len(outcomes)} cases: {', '.join(names)}")  # noqa: T201


@pytest.mark.parametrize("case", IN_ANSWERS, ids=lambda case: case.id)
def test_the_guarantees_hold_for_an_answer_to_an_order(
    imported, recorder, hostile_library, obeyed, case
):
    services = imported(data_dir=hostile_library, chat_max_tokens=MOST_TOKENS, top_k=1)
    turn = services.chat.ask(LOCAL_USER, case.question)
    prompts = [prompt_of(one.request) for one in recorder.exchanges]
    assert any(case.order in prompt for prompt in prompts) is case.reaches_model
    obeyed[case.id] = case.is_obeyed_in(turn.answer.partition(EXTRACT)[0])
    require_inert_answer(turn)
    require_true_evidence(services, turn)
    require_no_secret([turn.answer, *prompts], [str(hostile_library)])
    require_inert_exports(services, turn)
