"""Opening the page loads no module that only a question needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SLOW = (
    "authlib chains.conversational_retrieval deeplake httpx joserfc langchain_core numpy"
    " onnxruntime openai pandas tantivy"
)
OPEN_THE_PAGE = f"""
import sys
from datetime import UTC, datetime
import bootstrap
from ui.catalog import catalog_form, catalog_page, catalog_search_view
from ui.chat import answer_view, scope_panel, turn_actions, upload_view, welcome
from ui.documents import document_page
from ui.imports import imports_page, source_form
from ui.lab import lab_page
from ui.library import library_page, library_table
from ui.settings import setting_forms
from ui.shared import sign_in_page
from domain import LOCAL_USER
services = bootstrap.build_services()
services.conversations.grouped(LOCAL_USER, datetime.now(UTC))
assert services.chat.model_label
assert services.library.status(LOCAL_USER).documents == 1
print(*[name for name in {SLOW.split()!r} if name in sys.modules])
"""


def test_opening_the_page_with_a_library_loads_no_slow_module(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("# 휴가\n\n연차는 15일입니다.\n", encoding="utf-8")
    environment = os.environ | {"FOOTNOTE_DATA_DIR": str(tmp_path / "data")}
    import_command = [sys.executable, "cli.py", "import", str(document)]
    subprocess.run(import_command, cwd=ROOT, env=environment, check=True, timeout=120)
    args = [sys.executable, "-c", OPEN_THE_PAGE]
    result = subprocess.run(
        args, cwd=ROOT, env=environment, check=True, timeout=120, capture_output=True, text=True
    )
    assert result.stdout.split() == []
