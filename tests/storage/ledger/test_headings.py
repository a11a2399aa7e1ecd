from domain import LOCAL_USER
from storage.ledger.document_list_store import Headings
from storage.ledger.document_store import Documents


def test_headings_are_in_the_order_of_the_text(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    documents = {document.key: document.id for document in services.library.documents.list()}
    headings = Headings(services.parts.database).of([*documents.values(), "unknown"])
    assert headings[documents["leave.md"]] == ["Annual leave", "Sick leave"]
    assert headings[documents["vpn.md"]] == ["VPN"]
    assert "unknown" not in headings
    assert isinstance(services.library.documents, Documents)
