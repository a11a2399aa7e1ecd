"""The server of the pages alone: Streamlit's, which looks up no address of this machine outside.

python -m commands.pages [OPTIONS OF `streamlit run`]
"""

import sys
from pathlib import Path

from streamlit import net_util
from streamlit.web import cli

_APP = Path(__file__).parents[1] / "app.py"


def main() -> None:
    """Run `streamlit run app.py` with these options."""
    # Streamlit would ask a host on the internet for it: to print it when it listens on every
    # interface, even before it imports app.py, and to compare it with an origin that is not its
    # host letter by letter.
    net_util.get_external_ip = _no_address
    options = ["--browser.gatherUsageStats=false", *sys.argv[1:]]
    sys.argv[1:] = ["run", str(_APP), *options]
    cli.main(prog_name="streamlit")


def _no_address() -> None:
    return None


if __name__ == "__main__":
    main()
