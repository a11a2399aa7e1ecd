"""The security plugin of a real node."""

import ssl

import httpx
import pytest
from opensearchpy.exceptions import AuthenticationException, AuthorizationException

from tests.opensearch.security import READER

pytestmark = pytest.mark.opensearch


def test_https_with_the_ca_file_and_the_password_works(secure_opensearch):
    assert secure_opensearch.url.startswith("https://")
    assert secure_opensearch.client().info()["cluster_name"] == "footnote"


def test_a_wrong_password_is_refused(secure_opensearch):
    client = secure_opensearch.client(http_auth=("admin", "wrong"))
    with pytest.raises(AuthenticationException) as refusal:
        client.info()
    assert refusal.value.status_code == 401


def test_a_reader_reads_and_cannot_write(secure_opensearch):
    secure_opensearch.client().index(index="notes", body={"text": "plan"}, id="1", refresh=True)
    reader = secure_opensearch.client(user=READER)
    assert reader.count(index="notes")["count"] == 1
    with pytest.raises(AuthorizationException):
        reader.index(index="notes", body={"text": "change"}, id="1")


def test_without_the_ca_file_the_handshake_fails(secure_opensearch):
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(secure_opensearch.url, verify=ssl.create_default_context(), trust_env=False)
