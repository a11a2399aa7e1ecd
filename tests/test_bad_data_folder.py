"""Problems with the data folder are reported, and its contents survive them."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from domain import LOCAL_USER, Outcome, SearchMode
from domain.errors import StorageError
from storage.index_files import CHECKSUMS
from storage.ledger.database import HEAD
from tests.fakes.command_line import CommandLine, permission_prefix
from tests.storage.damage import contents

pytestmark = pytest.mark.slow

START_S = 60


@pytest.fixture
def footnote(tmp_path, model_cache):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    return CommandLine(tmp_path / "data", tmp_path)


@pytest.fixture
def services(imported):
    return imported()


def finds_the_vpn(services):
    [hit] = services.search.search(LOCAL_USER, "WireGuard", mode="bm25")
    return hit.metadata["key"] == "vpn.md"


def test_a_data_folder_below_a_file_is_reported_with_the_setting(build_services, handbook):
    with pytest.raises(StorageError, match=r"vpn\.md/data .*FOOTNOTE_DATA_DIR"):
        build_services(data_dir=handbook / "vpn.md" / "data")


def test_a_moved_data_folder_still_answers(services, build_services, handbook, tmp_path):
    elsewhere = tmp_path / "moved" / "자료 폴더"
    shutil.copytree(tmp_path / "data", elsewhere, symlinks=True)
    shutil.rmtree(tmp_path / "data" / "indexes")
    moved = build_services(data_dir=elsewhere)
    assert finds_the_vpn(moved)
    assert moved.maintenance.check(LOCAL_USER).agrees
    report = moved.directories.import_directory(LOCAL_USER, handbook)
    assert report.count(Outcome.UNCHANGED) == 4


@pytest.mark.parametrize("command", [("ask", "WireGuard?"), ("check",)])
def test_a_read_only_folder_is_reported_with_the_fix_and_left_unchanged(
    services, build_services, footnote_over, command
):
    prefix = permission_prefix()
    if prefix is None:
        pytest.skip("root may write everywhere, and setpriv is not installed to drop that right")
    paths = [footnote_over.data_dir, *footnote_over.data_dir.iterdir()]
    rights = {path: path.stat().st_mode for path in paths if not path.is_symlink()}
    for path in rights:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        result = footnote_over.run(*command, code=1, within=prefix)
    finally:
        for path, mode in rights.items():
            path.chmod(mode)
    assert str(footnote_over.data_dir) in result.stderr
    assert "FOOTNOTE_DATA_DIR" in result.stderr
    assert finds_the_vpn(build_services())


@pytest.fixture
def footnote_over(services, tmp_path):
    """The command line over the data folder of `services`."""
    return CommandLine(tmp_path / "data", tmp_path)


def test_a_ledger_from_a_newer_version_is_left_unchanged(services, build_services, tmp_path):
    ledger = tmp_path / "data" / "footnote.db"
    set_revision(ledger, "9999")
    with pytest.raises(StorageError, match="newer Footnote"):
        build_services()
    set_revision(ledger, HEAD)
    assert finds_the_vpn(build_services())


def set_revision(ledger, revision):
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?, oldest = ?", [revision] * 2)


def test_an_index_of_another_deep_lake_version_is_reported_and_rebuilt(
    services, build_services, tmp_path
):
    [format_file] = (tmp_path / "data" / "indexes").glob("*/passages/format.json")
    index_format = json.loads(format_file.read_text())
    format_file.write_text(json.dumps(index_format | {"deeplake": "3.9.0"}))
    # Another version would have written its own checksums.
    (format_file.parent / CHECKSUMS).unlink()
    reopened = build_services()
    with pytest.raises(StorageError, match=r"Deep Lake 3\.9\.0.*reindex"):
        reopened.search.search(LOCAL_USER, "annual leave", mode=SearchMode.SIMILARITY)
    assert reopened.search.search(LOCAL_USER, "annual leave"), "by its words"
    notices = reopened.library.status(LOCAL_USER).notices
    assert "Deep Lake 3.9.0" in notices[0]
    assert not reopened.maintenance.check(LOCAL_USER).agrees
    reopened.maintenance.reindex(LOCAL_USER)
    assert finds_the_vpn(reopened)
    assert reopened.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize("part", ["passages", "keywords", ""])
def test_a_missing_index_is_reported_and_rebuilt(services, build_services, tmp_path, part):
    [index] = (tmp_path / "data" / "indexes").iterdir()
    shutil.rmtree(index / part)
    reopened = build_services()
    assert not reopened.maintenance.check(LOCAL_USER).agrees
    reopened.maintenance.reindex(LOCAL_USER)
    assert finds_the_vpn(reopened)
    assert reopened.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize("damage", ["torn", "overwritten", "not a database"])
def test_a_damaged_ledger_is_reported_and_left_unchanged(services, footnote_over, damage):
    ledger = footnote_over.data_dir / "footnote.db"
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = ledger.read_bytes()
    damaged = {
        "torn": whole[: len(whole) // 2 + 100],
        "overwritten": whole[:100] + b"Z" * (len(whole) - 100),
        "not a database": b"notes, not a database" * 300,
    }[damage]
    services.parts.database.close()
    ledger.write_bytes(damaged)
    for command in (["check"], ["ask", "WireGuard?"]):
        result = footnote_over.run(*command, code=1)
        assert "footnote.db is damaged" in result.stderr
        assert "FOOTNOTE_DATA_DIR" in result.stderr
    assert ledger.read_bytes() == damaged


def test_check_reports_damage_and_changes_nothing(services, footnote_over):
    ledger = footnote_over.data_dir / "footnote.db"
    services.parts.database.close()
    with sqlite3.connect(ledger) as connection:
        connection.execute("DELETE FROM documents WHERE key = 'vpn.md'")
    connection.close()
    damaged = ledger.read_bytes()
    result = footnote_over.run("check", code=1)
    assert "rows refer to missing rows of documents" in result.stdout
    assert "footnote.db is damaged" in result.stderr
    check = json.loads(footnote_over.run("check", "--json", code=1).stdout)
    assert not check["agrees"]
    assert check["disagreements"] == result.stdout.splitlines()
    assert ledger.read_bytes() == damaged


@pytest.mark.parametrize("content", [None, b""], ids=["deleted", "empty"])
@pytest.mark.parametrize("command", ["check", "ask", "serve", "worker", "api", "mcp"])
def test_every_command_reports_a_lost_ledger_and_creates_nothing(
    services, footnote_over, command, content
):
    ledger = footnote_over.data_dir / "footnote.db"
    services.parts.database.close()
    ledger.unlink() if content is None else ledger.write_bytes(content)
    before = contents(footnote_over.data_dir)
    result = footnote_over.run(command, *["WireGuard?"] * (command == "ask"), code=1)
    assert len(result.stderr.splitlines()) == 1
    assert re.search(r"index folders: 1 \(passages: \d+\).*restore footnote\.db", result.stderr)
    assert contents(footnote_over.data_dir) == before


FULL = """
disk=$1; free_kib=$2; data=$3; folder=$4; shift 4
mount -t tmpfs -o size=150m none "$disk" && cp -R "$data"/. "$disk" || exit 9
room=$(df -Pk "$disk" | awk 'NR == 2 {print $4}')
dd if=/dev/zero of="$disk/fill" bs=1024 count=$((room - free_kib)) 2>/dev/null
"$@" import "$folder" --data-dir "$disk"; echo "full: $?"
rm "$disk/fill"
"$@" check --data-dir "$disk"; echo "check: $?"
"$@" import "$folder" --data-dir "$disk"; echo "again: $?"
"""


@pytest.fixture
def private_mounts():
    """A command prefix that allows mounting a private disk."""
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    prefix = ["unshare", *rights, "--mount"]
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"]).returncode != 0:
        pytest.skip("this machine does not allow a private mount namespace")
    return prefix


@pytest.mark.slow
@pytest.mark.parametrize("free_kib", [0, 20_000])
def test_a_full_disk_is_reported_and_loses_nothing(
    services, footnote_over, private_mounts, handbook, tmp_path, free_kib
):
    disk = tmp_path / "disk"
    disk.mkdir()
    (handbook / "door.md").write_text("Rule one: keep the door shut.")
    data, command = footnote_over.data_dir, footnote_over.command()
    result = subprocess.run(
        [*private_mounts, "sh", "-c", FULL, "sh", disk, str(free_kib), data, handbook, *command],
        env=footnote_over.environ(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "Traceback" not in result.stderr, result.stderr
    assert re.findall(r"(full|check|again): (\d)", result.stdout) == [
        ("full", "1"),
        ("check", "0"),
        ("again", "0"),
    ], result.stdout + result.stderr
    assert re.search("room|free|space", result.stderr)
    assert "1 new, 4 unchanged" in result.stdout


def test_two_concurrent_first_starts_create_one_library(footnote):
    both = [start(footnote, "check") for _ in range(2)]
    outputs = [process.communicate(timeout=START_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs


def start(footnote, *arguments):
    return subprocess.Popen(
        footnote.command(*arguments),
        cwd=footnote.home,
        env=footnote.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_second_import_names_the_running_one_and_a_killed_import_resumes(footnote, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.md").write_text(f"Rule {number}: " + "keep the door shut. " * 4)
    first = start(footnote, "import", folder)
    try:
        wait_for_import_start(footnote.data_dir / "footnote.db")
        os.kill(first.pid, signal.SIGSTOP)
        refused = footnote.run("import", folder, code=1)
        assert f"Process {first.pid}" in refused.stderr
        assert "then try again" in refused.stderr
    finally:
        first.kill()
        first.communicate(timeout=START_S)
    footnote.run("check")
    assert "completed" in footnote.run("import", folder).stdout
    assert "300 documents" in footnote.run("check").stdout


def wait_for_import_start(ledger):
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as connection:
                if connection.execute("SELECT 1 FROM imports").fetchone():
                    return
        except sqlite3.OperationalError:
            pass  # before the ledger is created
        time.sleep(0.01)
    pytest.fail("the import did not start")
