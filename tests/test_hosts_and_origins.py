"""Which requests the true servers answer, by their Host and Origin headers."""

import socket
import subprocess

import pytest

from tests.fakes.command_line import ROOT, CommandLine
from tests.fakes.openai import EMBEDDING_MODEL, serving
from tests.servers import free_port, pages_command, served

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
    """Each server as it starts without any setting."""
    with served(request.param, command_line(tmp_path_factory, request.param)) as running:
        yield running


@pytest.fixture(scope="module", params=["pages", "api", "mcp"])
def named(request, tmp_path_factory):
    """Each server with a name that it may be reached by."""
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
    """The pages with names that they may be reached by."""
    line = command_line(tmp_path_factory, "named-pages")
    hosts = "docs.example.com, [fd00::1]:8501"
    with served("pages", line, FOOTNOTE_ALLOWED_HOSTS=hosts) as running:
        yield running


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "app.localhost", "localhost"]
)
def test_a_request_by_a_loopback_name_is_answered(server, host):
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
def test_a_request_by_another_name_is_refused(server, headers):
    answer = server.ask(*(line.format(port=server.port) for line in headers))
    assert answer.status in REFUSED
    assert "evil" not in answer.body


def test_the_host_of_an_absolute_address_does_not_stand_in_for_the_header(server):
    path = f"http://localhost:{server.port}{server.path}"
    assert server.ask("Host: evil.example", path=path).status in REFUSED


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost:9999", "http://127.0.0.1:{port}", "null", "https://"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_web_page_of_another_origin_is_refused(server, method, origin):
    lines = (f"Host: localhost:{server.port}", f"Origin: {origin.format(port=server.port)}")
    answer = server.ask(*lines, "Content-Length: 0", method=method)
    assert answer.status == 403
    assert "FOOTNOTE_" in answer.body
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_a_page_of_the_server_itself_is_answered(server, host):
    here = f"{host}:{server.port}"
    assert server.ask(f"Host: {here}", f"Origin: http://{here}").status not in REFUSED


def test_a_refusal_names_the_setting_that_allows_the_host(server):
    assert "FOOTNOTE_ALLOWED_HOSTS" in server.ask("Host: evil.example").body


def test_every_response_forbids_frames_and_guessing_its_type(server):
    for host in (f"localhost:{server.port}", "evil.example"):
        headers = server.ask(f"Host: {host}").headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_a_name_in_the_setting_is_answered_and_no_other(named):
    assert named.ask("Host: docs.example.com").status not in REFUSED
    assert named.ask("Host: docs.example.com", "Origin: https://docs.example.com").status not in (
        REFUSED
    )
    assert named.ask("Host: 192.168.1.20:8501").status not in REFUSED
    assert named.ask("Host: 192.168.1.20:8502").status == 403
    assert named.ask("Host: evil.example").status == 403
    assert named.ask("Host: docs.example.com", "Origin: https://evil.example").status == 403


@pytest.mark.parametrize("path", PAGE_PATHS)
def test_nothing_of_the_pages_is_served_by_another_name_or_to_another_origin(pages, path):
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
def test_a_websocket_of_another_site_is_refused_before_it_opens(pages, host, origin):
    lines = [f"Host: {host}"] + ([f"Origin: {origin}"] if origin else [])
    assert pages.connect(*(line.format(port=pages.port) for line in lines)).status == 403


def test_a_websocket_of_the_pages_opens(pages):
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
def test_a_websocket_opens_by_a_name_in_the_setting(named_pages, host, origin, status):
    """Streamlit looks at the origin once more, behind the guard."""
    assert named_pages.connect(f"Host: {host}", f"Origin: {origin}").status == status


@pytest.mark.parametrize("kind", ["pages", "api"])
def test_a_health_check_may_name_the_address_of_the_machine(kind, tmp_path_factory):
    with served(kind, command_line(tmp_path_factory, kind)) as server:
        assert server.ask("Host: 10.1.2.3:8501", path=server.health).status not in REFUSED
        assert server.ask("Host: 10.1.2.3:8501").status == 403
        assert server.ask("Host: evil.example", path=server.health).status == 403


def test_the_pages_that_serve_starts_are_guarded_too(tmp_path_factory):
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
def test_a_server_may_listen_on_the_other_loopback_address(kind, tmp_path_factory):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    line = command_line(tmp_path_factory, kind)
    with served(kind, line, "--host", "::1", address="::1") as server:
        here = f"[::1]:{server.port}"
        assert server.ask(f"Host: {here}", f"Origin: http://{here}").status not in REFUSED
        assert server.ask("Host: evil.example").status == 403


def test_pages_do_not_start_with_a_host_that_is_none(line):
    done = subprocess.run(
        pages_command(free_port()),
        cwd=ROOT,
        env=line.environ(FOOTNOTE_ALLOWED_HOSTS="http://docs.example.com"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "Footnote: FOOTNOTE_ALLOWED_HOSTS: 'http://docs.example.com' is not a" in done.stderr
    assert "Traceback" not in done.stderr
