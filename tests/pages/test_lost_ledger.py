"""With a lost or damaged ledger, the page is the message in the reader's language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.fakes.library import filled_library
from tests.pages.conftest import APP, page_text
from tests.storage.damage import contents

PAGES = sorted(path.name for path in (APP.parent / "pages").glob("*.py"))


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of the library that the pages open."""
    library = filled_library(tmp_path / "data", {"a.txt": "one word after another."})
    library.database.close()
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "en")
    st.cache_resource.clear()
    yield tmp_path / "data"
    st.cache_resource.clear()


@pytest.mark.parametrize(
    ("language", "missing", "damaged", "recovery"),
    [
        ("en", "is missing", "is damaged", "restore footnote.db"),
        ("ko", "파일이 없습니다", "손상되었습니다", "되돌려 놓으세요"),
        ("ja", "がありません", "壊れています", "戻してください"),
    ],
)
def test_the_message_is_in_the_readers_language(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    missing: str,
    damaged: str,
    recovery: str,
) -> None:
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", language)
    ledger = data_dir / "footnote.db"
    for expected, content in ((missing, None), (damaged, b"notes, not a database" * 300)):
        ledger.unlink() if content is None else ledger.write_bytes(content)
        before = contents(data_dir)
        html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
        assert expected in html
        assert recovery in html
        assert contents(data_dir) == before
        if language != "en":
            assert "To recover" not in html


@pytest.mark.parametrize(
    ("language", "message"),
    [("en", "database of this library"), ("ko", "자료실의 데이터베이스"), ("ja", "のデータベース")],
)
def test_no_page_tells_where_a_database_is_that_can_not_be_reached_but_the_log_does(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    language: str,
    message: str,
) -> None:
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", language)
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql://annette:hunter22@127.0.0.1:9/library")
    html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
    assert message in html
    for part in ("annette", "hunter22", "127.0.0.1", "FOOTNOTE_DATABASE_URL"):
        assert part not in html
    log = capsys.readouterr().err
    assert "127.0.0.1:9/library can't be used" in log
    assert "hunter22" not in log


@pytest.mark.parametrize("page", PAGES)
def test_every_page_reports_the_loss_instead_of_an_empty_library(data_dir: Path, page: str) -> None:
    (data_dir / "footnote.db").unlink()
    app = AppTest.from_file(str(APP), default_timeout=20)
    app.switch_page(f"pages/{page}")
    html = page_text(app.run())
    assert "footnote.db is missing" in html
