"""The example of docs/opensearch.md, run against a real node."""

import subprocess
import sys

import pytest

from tests.docs_examples import Page
from tests.fakes.command_line import ROOT

pytestmark = pytest.mark.opensearch

PAGE = Page("opensearch.md")


def test_the_example_finds_passages_by_words_and_by_meaning(opensearch, tmp_path, model_cache):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    program = tmp_path / "hybrid_search.py"
    program.write_text(PAGE.programs["hybrid_search.py"], encoding="utf-8")
    completed = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "OPENSEARCH_URL": opensearch.url},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    korean, english, best, _second = completed.stdout.splitlines()
    assert (korean, english) == ("['휴가']", "['leave']")
    assert best.startswith("leave: ")
    assert best.endswith("['dense', 'bm25']")
