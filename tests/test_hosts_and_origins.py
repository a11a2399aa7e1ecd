"""Which requests the real servers accept, by Host and Origin header."""

import socket
import subprocess

import pytest

from tests.fakes.command_line import ROOT, CommandLine
from tests.fakes.openai import EMBEDDING_MODEL, serving
from tests.servers import free_port, pages_command, served

pytestmark = pytest.mark.slow

REFUSED = (400, 403)
PAGE_PATHS = (
    "/",
    "/library",
    "/static/media/none.woff2",
    "/media/none.png",
    "/component/none/index.html",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/metrics",
    "/_stcore/upload_file/session/file",
    "/_stcore/agent/mcp",
    "/_stcore/agent/interact",
    "/_stcore/agent/openapi.json",
    "/_stcore/bidi-components/none/index.js",
)


def command_line(tmp_path_factory, name):
    root = tmp_path_factory.mktemp(name)
    return CommandLine(root / "data", root)


@pytest.fixture(scope="module", params=["pages", "api", "mcp"])
def server(request, tmp_path_factory):
    """Each server with default settings."""
    with served(request.param, command_line(tmp_path_factory, request.param)) as running:
        yield running


@pytest.fixture(scope="module", params=["pages", "api", "mcp"])
def named(request, tmp_path_factory):
    """Each server with an allowed host name."""
    line = command_line(tmp_path_factory, request.param)
    hosts = "docs.example.com, 192.168.1.20:8501"
    with served(request.param, line, FOOTNOTE_ALLOWED_HOSTS=hosts) as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    with served("pages", command_line(tmp_path_factory, "pages")) as running:
        yield running


@pytest.fixture(scope="module")
def named_pages(tmp_path_factory):
    """The pages with allowed host names."""
    line = command_line(tmp_path_factory, "named-pages")
    hosts = "docs.example.com, [fd00::1]:8501"
    with served("pages", line, FOOTNOTE_ALLOWED_HOSTS=hosts) as running:
        yield running


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "app.localhost", "localhost"]
)
def test_requests_with_a_loopback_host_are_answered(server, host):
    assert server.ask(f"Host: {host.format(port=server.port)}").status not in REFUSED


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.example"],
        ["Host: evil.example:{port}"],
        ["Host: localhost.evil.example:{port}"],
        ["Host: 192.168.1.20:{port}"],
        ["Host: 0.0.0.0:{port}"],
        ["Host: evil.example", "X-Forwarded-Host: localhost"],
        ["Host: evil.example", "Forwarded: host=localhost"],
        ["Host: localhost:{port}", "Host: evil.example"],
        ["Host: evil.example", "Host: localhost:{port}"],
        ["Host: localhost:{port}@evil.example"],
        ["Host: localhost:{port}, evil.example"],
        ["Host:"],
        [],
    ],
)
def test_requests_with_another_host_are_refused(server, headers):
    answer = server.ask(*(line.format(port=server.port) for line in headers))
    assert answer.status in REFUSED
    assert "evil" not in answer.body


def test_an_absolute_url_does_not_override_the_host_header(server):
    path = f"http://localhost:{server.port}{server.path}"
    assert server.ask("Host: evil.example", path=path).status in REFUSED


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost:9999", "http://127.0.0.1:{port}", "null", "https://"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_requests_from_another_origin_are_refused(server, method, origin):
    lines = (f"Host: localhost:{server.port}", f"Origin: {origin.format(port=server.port)}")
    answer = server.ask(*lines, "Content-Length: 0", method=method)
    assert answer.status == 403
    assert "FOOTNOTE_" in answer.body
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_same_origin_requests_are_answered(server, host):
    here = f"{host}:{server.port}"
    assert server.ask(f"Host: {here}", f"Origin: http://{here}").status not in REFUSED


def test_the_refusal_names_the_setting_for_allowed_hosts(server):
    assert "FOOTNOTE_ALLOWED_HOSTS" in server.ask("Host: evil.example").body


def test_every_response_forbids_framing_and_content_sniffing(server):
    for host in (f"localhost:{server.port}", "evil.example"):
        headers = server.ask(f"Host: {host}").headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_only_configured_host_names_are_answered(named):
    assert named.ask("Host: docs.example.com").status not in REFUSED
    assert named.ask("Host: docs.example.com", "Origin: https://docs.example.com").status not in (
        REFUSED
    )
    assert named.ask("Host: 192.168.1.20:8501").status not in REFUSED
    assert named.ask("Host: 192.168.1.20:8502").status == 403
    assert named.ask("Host: evil.example").status == 403
    assert named.ask("Host: docs.example.com", "Origin: https://evil.example").status == 403


@pytest.mark.parametrize("path", PAGE_PATHS)
def test_pages_are_not_served_to_another_host_or_origin(pages, path):
    assert pages.ask("Host: evil.example", path=path).status == 403
    lines = (f"Host: localhost:{pages.port}", "Origin: http://localhost:9999")
    assert pages.ask(*lines, path=path).status == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example", None),
        ("evil.example:{port}", "http://evil.example:{port}"),
        ("localhost:{port}", "http://localhost:9999"),
        ("localhost:{port}", "http://evil.example"),
        ("localhost:{port}", "null"),
    ],
)
def test_a_cross_site_websocket_is_refused_before_it_opens(pages, host, origin):
    lines = [f"Host: {host}"] + ([f"Origin: {origin}"] if origin else [])
    assert pages.connect(*(line.format(port=pages.port) for line in lines)).status == 403


def test_a_same_origin_websocket_opens(pages):
    for host in (f"localhost:{pages.port}", f"127.0.0.1:{pages.port}", f"[::1]:{pages.port}"):
        assert pages.connect(f"Host: {host}", f"Origin: http://{host}").status == 101


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("docs.example.com", "https://docs.example.com", 101),
        ("docs.example.com:8080", "http://docs.example.com:8080", 101),
        ("[fd00::1]:8501", "http://[fd00::1]:8501", 101),
        ("docs.example.com", "https://evil.example", 403),
        ("docs.example.com", "https://docs.example.com:8443", 403),
        ("evil.example", "https://docs.example.com", 403),
    ],
)
def test_a_websocket_opens_with_a_configured_host(named_pages, host, origin, status):
    """Streamlit checks the origin again, behind the guard."""
    assert named_pages.connect(f"Host: {host}", f"Origin: {origin}").status == status


@pytest.mark.parametrize("kind", ["pages", "api"])
def test_a_health_check_may_use_the_address_of_the_machine(kind, tmp_path_factory):
    with served(kind, command_line(tmp_path_factory, kind)) as server:
        assert server.ask("Host: 10.1.2.3:8501", path=server.health).status not in REFUSED
        assert server.ask("Host: 10.1.2.3:8501").status == 403
        assert server.ask("Host: evil.example", path=server.health).status == 403


def test_pages_started_by_serve_are_guarded(tmp_path_factory):
    line = command_line(tmp_path_factory, "serve")
    with serving() as model:
        embedding = {
            "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
            "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
            "FOOTNOTE_EMBEDDING_BASE_URL": model.url,
        }
        with served("serve", line, **embedding) as server:
            here = f"localhost:{server.port}"
            assert server.ask(f"Host: {here}").status == 200
            assert server.connect(f"Host: {here}", f"Origin: http://{here}").status == 101
            assert server.ask("Host: evil.example").status == 403
            assert server.connect("Host: evil.example").status == 403
            assert server.connect(f"Host: {here}", "Origin: http://localhost:9999").status == 403


@pytest.mark.parametrize("kind", ["api", "mcp"])
def test_the_server_can_listen_on_the_other_loopback_address(kind, tmp_path_factory):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    line = command_line(tmp_path_factory, kind)
    with served(kind, line, "--host", "::1", address="::1") as server:
        here = f"[::1]:{server.port}"
        assert server.ask(f"Host: {here}", f"Origin: http://{here}").status not in REFUSED
        assert server.ask("Host: evil.example").status == 403


def test_an_invalid_host_setting_stops_the_pages_from_starting(line):
    result = subprocess.run(
        pages_command(free_port()),
        cwd=ROOT,
        env=line.environ(FOOTNOTE_ALLOWED_HOSTS="http://docs.example.com"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 1
    assert "Footnote: FOOTNOTE_ALLOWED_HOSTS: 'http://docs.example.com' is not a" in result.stderr
    assert "Traceback" not in result.stderr
