"""Processes of one data folder add up their counts, until all of them have ended."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNT = """
import sys
from pathlib import Path
from bootstrap.process_metrics import collect_metrics
from domain.logs import configure_logs, get_logger
configure_logs(sys.argv[2], "text", [])
collect_metrics(Path(sys.argv[1]))
collect_metrics(Path(sys.argv[1]))
get_logger("web").info("request", method="GET", path="/", status=200, ms=1.0)
print("counted", flush=True)
sys.stdin.read()
"""
READ = """
import sys
from pathlib import Path
from types import SimpleNamespace
from bootstrap.process_metrics import collect_metrics, prometheus_text
from services.status_service import SystemStatus
now = SystemStatus("1.0", "3", "f", "embedded", True, 4, 9, {"queued": 2}, False, 10**9)
collect_metrics(Path(sys.argv[1]))
print(prometheus_text(SimpleNamespace(current=lambda: now)).decode())
"""
REQUESTS = 'footnote_http_requests_total{method="GET",status="200"} '


def start_counting(data_dir, level="info"):
    process = subprocess.Popen(
        [sys.executable, "-c", COUNT, str(data_dir), level],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "counted\n"
    return process


def end(*processes):
    for process in processes:
        process.communicate(timeout=30)


def read_metrics(data_dir):
    command = [sys.executable, "-c", READ, str(data_dir)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout


@pytest.mark.slow
def test_counts_of_processes_are_summed_and_reset_once_all_have_ended(tmp_path):
    first, second = start_counting(tmp_path), start_counting(tmp_path, level="warning")
    assert f"{REQUESTS}2.0" in read_metrics(tmp_path)
    end(first)
    assert f"{REQUESTS}2.0" in read_metrics(tmp_path)
    end(second)
    text = read_metrics(tmp_path)
    assert REQUESTS not in text
    assert "footnote_documents 4.0" in text
    assert 'footnote_runs{state="queued"} 2.0' in text
    assert 'footnote_info{engine="embedded",index="f",version="1.0"} 1.0' in text
