"""Korean and Japanese searches: expected first results, and queries without results."""

import unicodedata

import pytest

import bootstrap
from domain import LOCAL_USER, SearchMode
from domain.language.script import script_of
from models.builtin_models import MiniLM
from settings import load_settings

pytestmark = pytest.mark.slow

MODES = [SearchMode.BM25, SearchMode.CONVEX]

DOCUMENTS = {
    "배포.md": "# 서버 배포 절차\n\n서버를 배포하려면 먼저 변경 관리자의 승인을 받습니다. "
    "배포는 화요일과 목요일에 합니다.\n",
    "휴가.md": "# 휴가 규정\n\n신규 입사자는 첫해에 연차 15일을 받습니다. "
    "연차는 하루 전까지 신청합니다.\n",
    "원격접속.md": "# 원격 접속\n\nVPN을 설치한 뒤 본인 계정으로 접속합니다. "
    "VPN에 접속할 수 없으면 지원팀에 알립니다.\n",
    "경비.md": "# 경비 정산\n\n출장비는 영수증과 함께 ５일 안에 청구합니다. 택시는 밤 열 시부터 "
    "탈 수 있습니다.\n",
    "건강.md": "# 건강 검진\n\n정기 검진에서 간 수치와 눈 상태를 봅니다.\n",
    "休暇.md": "# 休暇規程\n\n新入社員には年次有給休暇が12日付与されます。\n",
    "障害.md": "# 障害対応ガイド\n\nサーバーが停止したら、まず当番のエンジニアに電話します。\n",
    "経費.md": "# 経費の精算\n\nタクシー代の領収書は、月末までに提出してください。\n",
    "駐車.md": "# 来客用の駐車場\n\n車で来る方は、受付で鍵を借ります。\n",
    "ネットワーク.md": "# ネットワーク\n\nWi-FiのパスワードとVPNの設定は、情報システム部が"
    "管理します。ﾌﾟﾘﾝﾀｰは各階にあります。\n",
    "release.md": "# Release notes\n\nThe quarterly report is published in April.\n",
}

FIRST_RESULTS = [
    # Korean: particles and endings
    ("서버 배포", "배포.md"),
    ("서버를 배포하려면", "배포.md"),
    ("서버배포", "배포.md"),
    ("배포는 언제 하나요?", "배포.md"),
    ("승인을", "배포.md"),
    ("연차는", "휴가.md"),
    ("연차를 신청하고 싶어요", "휴가.md"),
    ("입사자에게", "휴가.md"),
    # Korean with Latin letters and digits
    ("VPN을", "원격접속.md"),
    ("VPN에 접속", "원격접속.md"),
    ("vpn 접속이 안 돼요", "원격접속.md"),
    ("연차 15일", "휴가.md"),
    # Korean: a word of one character
    ("간", "건강.md"),
    ("눈", "건강.md"),
    # full width
    ("ＶＰＮ을 설치", "원격접속.md"),
    ("출장비 5일", "경비.md"),
    ("출장비　청구", "경비.md"),
    # Japanese: kanji, kana, particles
    ("年次有給休暇", "休暇.md"),
    ("有給休暇は何日ですか", "休暇.md"),
    ("新入社員の休暇", "休暇.md"),
    ("サーバーが停止", "障害.md"),
    ("サーバーの停止", "障害.md"),
    ("エンジニアへの電話", "障害.md"),
    ("タクシーの領収書", "経費.md"),
    # Japanese: one character, half-width kana, Latin letters
    ("鍵", "駐車.md"),
    ("車", "駐車.md"),
    ("ｻｰﾊﾞｰ", "障害.md"),
    ("プリンター", "ネットワーク.md"),
    ("Ｗｉ－Ｆｉ", "ネットワーク.md"),
    ("wi-fi", "ネットワーク.md"),
    ("Wi-Fiのパスワード", "ネットワーク.md"),
    ("VPNの設定", "ネットワーク.md"),
]

WITHOUT_RESULTS = [
    "김치찌개",
    "낚시를",
    "ㅋㅋㅋ",
    "뷁",
    "龍",
    "忍者屋敷",
    "ラーメン",
    "ﾗｰﾒﾝ",
    "ＸＹＺＺＹ",
    "？！",
]


def is_asian(query):
    return script_of(query) in {"korean", "japanese", "chinese"}


def as_nfd(text):
    return unicodedata.normalize("NFD", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A library of the documents above, some of them in NFD as written by macOS."""
    folder = tmp_path_factory.mktemp("documents")
    for number, (name, text) in enumerate(DOCUMENTS.items()):
        in_form = as_nfd if number % 2 else str
        (folder / in_form(name)).write_text(in_form(text), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def search(folder, tmp_path_factory, model_cache):
    return search_over(folder, tmp_path_factory.mktemp("data"), model_cache)


@pytest.fixture(scope="module")
def english_search(folder, tmp_path_factory, model_cache):
    """A library with an English-only embedding."""
    data_dir = tmp_path_factory.mktemp("english")
    return search_over(folder, data_dir, model_cache, embedding_model=MiniLM.name)


def search_over(folder, data_dir, model_cache, **settings):
    (data_dir / "cache").symlink_to(model_cache)
    services = bootstrap.build_services(load_settings(data_dir=data_dir, **settings))
    services.directories.import_directory(LOCAL_USER, folder)
    return services.search


def keys(search, query, mode):
    return [hit.metadata["key"] for hit in search.search(LOCAL_USER, query, mode=mode)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("query", "key"), FIRST_RESULTS)
def test_a_search_finds_the_expected_passage_first(search, query, key, mode):
    assert keys(search, query, mode)[:1] == [key]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("query", "key"), FIRST_RESULTS)
def test_a_search_in_nfd_finds_the_same(search, query, key, mode):
    assert keys(search, as_nfd(query), mode) == keys(search, query, mode)


@pytest.mark.parametrize("query", WITHOUT_RESULTS)
def test_a_word_that_occurs_in_no_document_finds_nothing(search, query):
    assert keys(search, query, SearchMode.BM25) == []


@pytest.mark.parametrize("query", [*filter(is_asian, WITHOUT_RESULTS)])
def test_an_english_only_embedding_adds_no_results(english_search, query):
    assert keys(english_search, query, SearchMode.CONVEX) == []


def test_nfd_and_nfc_file_names_are_one_document(build_services, tmp_path):
    folder = tmp_path / "names"
    folder.mkdir()
    (folder / as_nfd("휴가 안내.md")).write_text("연차는 15일입니다.", encoding="utf-8")
    services = build_services()
    [first] = services.directories.import_directory(LOCAL_USER, folder).items
    (folder / as_nfd("휴가 안내.md")).rename(folder / "휴가 안내.md")
    [item] = services.directories.import_directory(LOCAL_USER, folder).items
    assert first.key == item.key == "휴가 안내.md"
    assert item.outcome.value == "unchanged"
    [hit] = services.search.search(LOCAL_USER, "연차")
    assert hit.metadata["title"] == "휴가 안내"
