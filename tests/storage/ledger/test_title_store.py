import pytest

from domain import LOCAL_USER
from storage.ledger.document_list_store import Titles

pytestmark = pytest.mark.usefixtures("ledger_kind")


def test_titles_are_listed_with_their_keys(imported):
    services = imported(embed=True)
    titles = Titles(services.parts.database)
    assert [(document.title, document.key) for document in titles.all()] == [
        ("Leave policy", "leave.md"),
        ("VPN", "vpn.md"),
        ("休暇規程", "休暇.md"),
        ("휴가 규정", "휴가.md"),
    ]


def test_documents_are_filtered_by_metadata(imported):
    services = imported(embed=True)
    titles = Titles(services.parts.database)
    ids = {document.key: document.id for document in titles.all()}
    of_vpn = titles.matching(list(ids.values()), {"key": "vpn.md", "format": {"$in": ["md"]}})
    assert of_vpn == {ids["vpn.md"]}
    assert titles.matching([ids["leave.md"]], {"key": "vpn.md"}) == set()


def test_passage_ids_of_a_document_are_in_the_order_of_its_text(imported):
    services = imported(embed=True)
    titles = Titles(services.parts.database)
    leave = next(document for document in titles.all() if document.key == "leave.md")
    passages = services.reader.passages(LOCAL_USER, leave.id, 0, 100)
    assert titles.passage_ids(leave.id) == [passage.id for passage in passages]
    assert titles.passage_ids("unknown") == []
