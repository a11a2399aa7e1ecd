import pytest

from storage.ledger.document_list_store import DocumentList

pytestmark = pytest.mark.usefixtures("ledger_kind")


def test_passages_come_with_their_headings_in_the_order_of_the_text(imported):
    services = imported(embed=True)
    documents = {document.key: document.id for document in services.library.documents.list()}
    listed = DocumentList(services.parts.database)
    passages = listed.first_passages([*documents.values(), "unknown"])
    leave = passages[documents["leave.md"]]
    assert [one.heading for one in leave] == ["Annual leave", "Sick leave"]
    assert "25 days of annual leave" in leave[0].text
    assert [one.heading for one in passages[documents["vpn.md"]]] == ["VPN"]
    assert "unknown" not in passages
