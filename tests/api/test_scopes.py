"""Which operations a key of each scope may call."""

import re

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import ApiScope
from tests.api.conftest import bearer

ALLOWED = {
    ApiScope.READ: """
        search compare_modes evaluate_search list_labels list_ratings read_rating
        list_source_kinds list_sources read_source preview_removal list_source_imports
        list_imports read_import list_import_items follow_import
        read_library list_documents read_document read_text read_original list_passages
        list_catalogues list_restaurants read_restaurant
        list_failures list_left_out create_embedding""",
    ApiScope.ASK: """
        ask ask_stream create_chat_completion create_response
        list_conversations create_conversation
        import_conversation read_conversation change_conversation delete_conversation
        restore_conversation read_conversation_link share_conversation unshare_conversation
        read_shared_conversation read_turn show_version export_conversation
        put_label delete_label put_rating delete_rating replay_answer
        search_catalogue search_catalogue_stream read_user change_user""",
    ApiScope.MANAGE: """
        test_source create_source change_source delete_source pause_source resume_source
        import_source dry_run_source pause_import resume_import cancel_import
        import_document delete_document dismiss_failures retry_failures take_back
        upload_files upload_to_conversation
        read_source_readers set_source_readers read_collection_readers set_collection_readers
        explain_access""",
    ApiScope.METRICS: "",  # `/metrics` is not in the description
}
ANY = {"list_models", "retrieve_model"}
"""A client lists the models before it asks."""

BODIES = {
    "application/json": {"json": {}},
    "multipart/form-data": {"files": {"none": ("a.md", b"")}},
}


@pytest.fixture
def client(build_services):
    services = build_services(api_requests_per_minute=10_000)
    client = TestClient(make_app(services))
    client.keys = {scope: bearer(services, scope) for scope in ApiScope}
    return client


def test_a_key_may_call_the_operations_of_its_scope_and_no_others(client):
    allowed = {scope: set() for scope in ApiScope}
    for name, method, path, body in operations(client):
        for scope, key in client.keys.items():
            answer = client.request(method, path, headers=key, **body)
            if answer.status_code != 403:
                allowed[scope].add(name)
    assert allowed == {scope: ANY | set(names.split()) for scope, names in ALLOWED.items()}


def operations(client):
    """Name, method, path with unknown IDs, and body of each operation that requires a key."""
    for path, methods in client.get("/api/v1/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            if "security" in operation:
                kinds = operation.get("requestBody", {}).get("content", {})
                body = BODIES[next(iter(kinds))] if kinds else {}
                yield operation["operationId"], method, re.sub(r"{\w+}", "none", path), body
