"""What processes hold, seen from within; apart, so that they load nothing for the measuring."""

from pathlib import Path

from benchmarks.measure import peak_mib, resident_mib


def command_line() -> float:
    import cli  # noqa: F401  # loading it is what is measured

    return resident_mib()


def services(data_dir: str) -> dict[str, float]:
    from bootstrap import build_services
    from domain import LOCAL_USER
    from settings import Settings

    opened = build_services(Settings(data_dir=Path(data_dir), _env_file=None))
    idle = resident_mib()
    found = opened.search.search(LOCAL_USER, "Which of word1 and word2 is meant?")
    if not found:
        raise SystemExit("the library answers nothing: the memory of that says nothing")
    return {"idle": idle, "asked": resident_mib(), "peak": peak_mib()}
