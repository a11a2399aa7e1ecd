"""The configuration of the proxy, run by nginx in front of two pages and two API servers."""

import json
import os
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
ADDRESSES = {"pages": ("127.0.0.21", "127.0.0.22"), "api": ("127.0.0.31", "127.0.0.32")}
"""Each name has two addresses, as the name of a service with two containers has."""
WITH_HOSTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


class _Echo(BaseHTTPRequestHandler):
    """Answers with its name, and with the path and headers of the request."""

    def do_GET(self):
        about = {"server": self.server.name, "path": self.path, **dict(self.headers)}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(about).encode())

    def log_message(self, *arguments):
        pass


def _echo(stack, name, address, port):
    server = ThreadingHTTPServer((address, port), _Echo)
    server.name = name
    stack.enter_context(serving_in_thread(server))


def _configuration(folder, port, ports):
    """The proxy's configuration with other ports and folders.

    Debian's nginx does not have the parameter `resolve`, which is in nginx 1.27.3 and newer.
    """
    text = NGINX.replace("/tmp/", f"{folder}/").replace("listen 8080", f"listen 127.0.0.1:{port}")
    for name, own_port in ports.items():
        text, count = re.subn(rf"server {name}:\d+ resolve;", f"server {name}:{own_port};", text)
        assert count == 1
    return text


def _hosts():
    lines = ["127.0.0.1 localhost"]
    lines += [f"{one} {name}" for name, addresses in ADDRESSES.items() for one in addresses]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The address of nginx in front of the servers `pages-1`, `pages-2`, `api-1`, and `api-2`."""
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    with ExitStack() as stack:
        ports = {name: free_port() for name in ADDRESSES}
        for name, addresses in ADDRESSES.items():
            for number, address in enumerate(addresses, 1):
                _echo(stack, f"{name}-{number}", address, ports[name])
        file, hosts = folder / "nginx.conf", folder / "hosts"
        file.write_text(_configuration(folder, port, ports), encoding="utf-8")
        hosts.write_text(_hosts(), encoding="utf-8")
        nginx = f'nginx -c {file} -e {folder / "error.log"} -g "daemon off;"'
        script = f"mount --bind {hosts} /etc/hosts && exec {nginx}"
        process = stack.enter_context(subprocess.Popen([*WITH_HOSTS, "sh", "-c", script]))
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
