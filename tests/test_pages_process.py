import subprocess
import sys

SCRIPT = """
import logging
from streamlit.web import cli
from commands import pages_process
from domain.logs import configure_logs

def served(prog_name):
    configure_logs("warning", "json", ["planted-secret"])
    logging.getLogger("streamlit.runtime").error("failed with planted-secret")
    from streamlit.logger import get_logger
    get_logger("streamlit.later").warning("loaded later")
    import uvicorn
    uvicorn.Config("app", use_colors=False)
    logging.getLogger("uvicorn.error").info("Started server process")
    logging.getLogger("uvicorn.error").error("failed to bind with planted-secret")

cli.main = served
pages_process.main()
"""


def test_logs_of_streamlit_and_uvicorn_are_redacted_and_formatted_like_ours():
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=120
    )
    first, second, third = result.stderr.splitlines()
    assert '"event": "failed with ***"' in first
    assert '"event": "loaded later"' in second
    assert '"event": "failed to bind with ***"' in third
