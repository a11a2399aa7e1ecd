import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIGHT = (
    "import cli, services.sources.google_login, sys\n"
    "import loaders.google_drive.google_drive_loader\n"
    "slow = {'google', 'googleapiclient', 'google_auth_httplib2', 'google_auth_oauthlib',\n"
    "        'httplib2', 'oauthlib', 'requests', 'langchain_core'}\n"
    "print(sorted(slow & {name.split('.')[0] for name in sys.modules}))"
)


def test_nothing_of_googles_is_loaded_until_a_drive_is_asked():
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
