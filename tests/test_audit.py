"""A known vulnerability fails the audit, unless it is accepted; a missing database does not."""

import json
import subprocess
import sys
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.audit import PIP_AUDIT, ROOT, accepted_vulnerabilities, report_of
from tests.fakes.server_thread import serving_in_thread
from tests.servers import free_port

VULNERABLE = {
    "name": "jinja2",
    "version": "2.11.1",
    "vulns": [{"id": "PYSEC-2021-66", "aliases": ["CVE-2020-28493"], "fix_versions": ["2.11.3"]}],
}
FINE = {"name": "idna", "version": "3.20", "vulns": []}
UNKNOWN = {"name": "own", "skip_reason": "not found"}
ENTRY = {"id": "CVE-2020-28493", "reason": "unused", "date": date(2026, 11, 26)}
OSV = {
    "id": "GHSA-test",
    "modified": "2026-11-01T00:00:00Z",
    "published": "2026-11-01T00:00:00Z",
    "aliases": ["CVE-2026-1"],
    "summary": "A test.",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.12"}]}],
        }
    ],
}


def report(*packages, accepted=()):
    return report_of(json.dumps({"dependencies": packages}), accepted)


def test_a_known_vulnerability_is_reported_with_the_version_that_fixes_it():
    [line] = report(VULNERABLE, FINE).open
    assert line == "jinja2 2.11.1: PYSEC-2021-66, fixed in 2.11.3"


def test_an_accepted_vulnerability_is_shown_with_its_reason():
    accepted = report(VULNERABLE, accepted=[ENTRY])
    assert accepted.open == []
    assert "2026-11-26: unused" in "\n".join(accepted.lines())


def test_packages_that_are_not_in_the_database_are_named():
    assert "lacks them: own" in "\n".join(report(FINE, UNKNOWN).lines())


@pytest.mark.parametrize("found", [report(UNKNOWN), report_of("", [])])
def test_a_database_that_contains_nothing_counts_as_missing(found):
    assert "can't be reached" in "\n".join(found.lines())
    assert found.open == []


def test_every_accepted_vulnerability_has_a_reason_and_a_date():
    for one in accepted_vulnerabilities():
        assert one.keys() == {"id", "reason", "date"}
        assert one["reason"].strip()
        assert one["date"] <= date.today()


class _Database(BaseHTTPRequestHandler):
    """Knows one vulnerability, in the protocol of OSV."""

    def do_POST(self):
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_known = query["package"]["name"] == "jinja2"
        body = json.dumps({"vulns": [OSV]} if is_known else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def database():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Database)
    with serving_in_thread(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"


def audit(url, requirements):
    command = [sys.executable, "-m", "tests.audit", "--requirements", str(requirements)]
    command += ["--vulnerability-service", "osv", "--osv-url", url]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.skipif(not PIP_AUDIT.exists(), reason="make .venv-audit/.ready")
@pytest.mark.parametrize(("package", "code"), [("jinja2==2.11.1", 1), ("idna==3.20", 0)])
def test_pip_audit_finds_what_a_database_knows(package, code, tmp_path):
    (tmp_path / "requirements.txt").write_text(package)
    with database() as url:
        result = audit(url, tmp_path / "requirements.txt")
    assert result.returncode == code, result.stdout + result.stderr
    assert "1 of 1 packages were compared" in result.stdout
    assert ("VULNERABLE: jinja2 2.11.1: CVE-2026-1, fixed in 2.12" in result.stdout) is bool(code)


@pytest.mark.skipif(not PIP_AUDIT.exists(), reason="make .venv-audit/.ready")
def test_an_unreachable_database_does_not_fail_the_audit(tmp_path):
    (tmp_path / "requirements.txt").write_text("idna==3.20")
    result = audit(f"http://127.0.0.1:{free_port()}/v1/query", tmp_path / "requirements.txt")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "NOT AUDITED: the database of vulnerabilities can't be reached" in result.stdout


@pytest.mark.skipif(not PIP_AUDIT.exists(), reason="make .venv-audit/.ready")
def test_another_failure_of_pip_audit_fails_the_audit(tmp_path):
    result = audit("no address", tmp_path / "missing.txt")
    assert result.returncode == 1
    assert "pip-audit failed" in result.stderr
