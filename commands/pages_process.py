"""Runs Streamlit's server for the pages, without looking up this machine's external address.

python -m commands.pages_process [OPTIONS OF `streamlit run`]
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from streamlit import logger as streamlit_logs
from streamlit import net_util
from streamlit.web import cli
from uvicorn.config import HTTP_PROTOCOLS, LOGGING_CONFIG

from bootstrap import require_key_at_start, settings_at_start, streamlit_secrets
from bootstrap.tracing import end_traces
from commands.connection_limits import limited_protocol
from commands.long_running import allow_open_files, bound_memory
from domain.errors import AppError
from settings import Settings

_APP = Path(__file__).parents[1] / "app.py"


def main() -> None:
    """Run `streamlit run app.py` with these options."""
    # Streamlit would query a host on the internet for it: to print it when listening on all
    # interfaces, even before importing app.py, and to compare it with an origin that does not
    # match the host exactly.
    net_util.get_external_ip = _no_address
    streamlit_logs.setup_formatter = _join_our_logs
    streamlit_logs.update_formatter()
    # Streamlit can't pass `log_config=None` to uvicorn; without handlers, our own gets its lines.
    LOGGING_CONFIG["handlers"].clear()
    LOGGING_CONFIG["loggers"].clear()
    with _readable_errors():
        settings = settings_at_start()
        require_key_at_start(settings)
    # Streamlit has no option for uvicorn's protocol either.
    HTTP_PROTOCOLS["auto"] = limited_protocol(  # type: ignore[assignment]  # a class works like its name
        settings.max_connections, settings.max_connections_per_address
    )
    if settings.pages_metrics_port is not None:
        from bootstrap.metrics_server import serve_metrics  # slow, and rarely needed

        serve_metrics("pages", settings.pages_metrics_port, "FOOTNOTE_PAGES_METRICS_PORT")
    options = ["--browser.gatherUsageStats=false", "--logger.level=warning", *sys.argv[1:]]
    allow_open_files()
    bound_memory()
    with _sign_in_options(settings) as sign_in_options:
        sys.argv[1:] = ["run", str(_APP), *options, *sign_in_options]
        try:
            cli.main(prog_name="streamlit")
        finally:
            end_traces()


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except AppError as error:
        raise SystemExit(f"Footnote: {error}") from error


@contextmanager
def _sign_in_options(settings: Settings) -> Iterator[list[str]]:
    """Streamlit's options for the sign-in; none without sign-in.

    The secrets file, which only the current user can read, exists during the block. Headers of
    requests never say who a person is, even if the environment permits it.
    """
    if not settings.has_sign_in:
        yield []
        return
    with _readable_errors():
        text = streamlit_secrets(settings)
    with TemporaryDirectory(prefix="footnote-") as folder:
        file = Path(folder, "secrets.toml")
        with open(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as out:
            out.write(text)
        yield [f"--secrets.files={file}", "--server.trustedUserHeaders={}"]


def _no_address() -> None:
    return None


def _join_our_logs(logger: logging.Logger) -> None:
    """Pass the lines of a Streamlit logger to our handler, which redacts and formats them."""
    if own := getattr(logger, "streamlit_console_handler", None):
        logger.removeHandler(own)
    logger.propagate = True


if __name__ == "__main__":
    main()
