import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = (
    "import cli, services.sources.google_login, sys\n"
    "import loaders.google_drive.google_drive_loader\n"
    "slow = {'google', 'googleapiclient', 'google_auth_httplib2', 'google_auth_oauthlib',\n"
    "        'httplib2', 'oauthlib', 'requests', 'langchain_core'}\n"
    "print(sorted(slow & {name.split('.')[0] for name in sys.modules}))"
)


def test_google_libraries_are_imported_lazily():
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (process.stdout.strip(), process.stderr) == ("[]", "")
