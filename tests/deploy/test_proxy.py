"""The configuration of the proxy, run by nginx in front of two pages and two API servers."""

import json
import re
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.deploy.files import NGINX
from tests.fakes.server_thread import serving_in_thread
from tests.servers import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx: apt-get install nginx"),
]
CLIENTS = 30


class _Echo(BaseHTTPRequestHandler):
    """Answers with its name, and with the path and headers of the request."""

    def do_GET(self):
        about = {"server": self.server.name, "path": self.path, **dict(self.headers)}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(about).encode())

    def log_message(self, *arguments):
        pass


def _echo(stack, name):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    server.name = name
    stack.enter_context(serving_in_thread(server))
    return server.server_port


def _configuration(folder, port, upstreams):
    """The proxy's configuration with other addresses and folders.

    Debian's nginx does not have the parameter `resolve`, which is in nginx 1.27.3 and newer.
    """
    text = NGINX.replace("/tmp/", f"{folder}/").replace("listen 8080", f"listen 127.0.0.1:{port}")
    for name, ports in upstreams.items():
        servers = " ".join(f"server 127.0.0.1:{one};" for one in ports)
        text, count = re.subn(rf"server {name}:\d+ resolve;", servers, text)
        assert count == 1
    return text


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The address of nginx in front of the servers `pages-1`, `pages-2`, `api-1`, and `api-2`."""
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    with ExitStack() as stack:
        upstreams = {
            name: [_echo(stack, f"{name}-{number}") for number in (1, 2)]
            for name in ("pages", "api")
        }
        file = folder / "nginx.conf"
        file.write_text(_configuration(folder, port, upstreams), encoding="utf-8")
        command = ["nginx", "-c", str(file), "-e", str(folder / "error.log")]
        subprocess.run([*command, "-t"], check=True, capture_output=True)
        process = stack.enter_context(subprocess.Popen([*command, "-g", "daemon off;"]))
        stack.callback(process.terminate)
        _wait(f"http://localhost:{port}")
        yield f"http://localhost:{port}"


def _wait(address):
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(f"{address}/proxy/healthz", timeout=5) as response:
                assert response.status == 204
                return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def ask(proxy, path, **headers):
    """What the server received, and the cookies that the browser gets."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(proxy + path, headers=names)
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response), response.headers.get_all("Set-Cookie") or []


def test_a_browser_reaches_the_same_pages_with_all_requests(proxy):
    reached = set()
    for _ in range(CLIENTS):
        first, [cookie] = ask(proxy, "/")
        name = cookie.partition(";")[0]
        for path in ("/_stcore/stream", "/_stcore/upload_file/session/file", "/media/a.pdf"):
            later, cookies = ask(proxy, path, Cookie=name)
            assert later["server"] == first["server"]
            assert not cookies, "the cookie stays"
        reached.add(first["server"])
    assert reached == {"pages-1", "pages-2"}


def test_the_cookie_is_not_for_scripts_or_other_sites(proxy):
    _, [cookie] = ask(proxy, "/")
    assert re.fullmatch(r"footnote_server=\w{32}; Path=/; HttpOnly; SameSite=Lax", cookie)


def test_both_api_servers_are_used(proxy):
    paths = ("/api/v1/ask", "/v1/models", "/healthz", "/readyz")
    reached = {ask(proxy, path)[0]["server"] for path in paths * 2}
    assert reached == {"api-1", "api-2"}


@pytest.mark.parametrize("path", ["/", "/metrics", "/library", "/api/v2", "/v10", "/healthzz"])
def test_everything_else_is_a_page(proxy, path):
    """So the metrics of the API are not reachable."""
    assert ask(proxy, path)[0]["server"].startswith("pages")


def test_the_browsers_host_and_upgrade_are_forwarded(proxy):
    received, _ = ask(
        proxy, "/_stcore/stream", Host="docs.example.com", Connection="Upgrade", Upgrade="websocket"
    )
    assert received["Host"] == "docs.example.com"
    assert received["Connection"] == "upgrade"
    assert received["Upgrade"] == "websocket"
