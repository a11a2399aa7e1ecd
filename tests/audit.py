"""Compares requirements.txt with a database of known vulnerabilities, by pip-audit.

make audit
python -m tests.audit --vulnerability-service osv

Exits with 1 if a package has a vulnerability that is not in tests/requirements/accepted.toml. If
the database can't be reached, the output says so, and the exit code is 0, because nothing is wrong
with the packages.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements.txt"
ACCEPTED = Path(__file__).parent / "requirements" / "accepted.toml"
PIP_AUDIT = ROOT / ".venv-audit" / "bin" / "pip-audit"
TIMEOUT_S = 600
_UNREACHABLE = re.compile("ConnectionError|Timeout")


@dataclass
class Report:
    """What is known about the packages; `unknown` are those that the database does not contain."""

    packages: int = 0
    unknown: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """What to tell about it."""
        checked = self.packages - len(self.unknown)
        yield f"{checked} of {self.packages} packages were compared with the database."
        if not checked:
            yield "NOT AUDITED: the database of vulnerabilities can't be reached from here."
        elif self.unknown:
            yield f"NOT AUDITED, because the database lacks them: {', '.join(self.unknown)}"
        for line in self.accepted:
            yield f"accepted: {line}"
        for line in self.open:
            yield f"VULNERABLE: {line}"


def report_of(output: str, accepted: Sequence[dict[str, Any]]) -> Report:
    """The report for the JSON of pip-audit; its text is empty if the database can't be reached."""
    packages = json.loads(output)["dependencies"] if output.strip() else []
    report = Report(len(packages))
    for package in packages:
        if "skip_reason" in package:
            report.unknown.append(package["name"])
        for one in package.get("vulns", ()):
            ids = {one["id"], *one["aliases"]}
            entry = next((entry for entry in accepted if entry["id"] in ids), None)
            fixed = ", ".join(one["fix_versions"]) or "no version"
            line = f"{package['name']} {package['version']}: {one['id']}, fixed in {fixed}"
            if entry:
                report.accepted.append(f"{line}; {entry['date']}: {entry['reason']}")
            else:
                report.open.append(line)
    return report


def pip_audit_json(requirements: Path, options: Sequence[str]) -> str:
    """The JSON of pip-audit; "" if it could not reach the database.

    Raises:
        RuntimeError: It failed for another reason.
    """
    command = [PIP_AUDIT, "-r", requirements, "--disable-pip", "--no-deps", "-f", "json"]
    command += ["--progress-spinner", "off", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if not run.stdout.strip() and not _UNREACHABLE.search(run.stderr):
        raise RuntimeError(f"pip-audit failed ({run.returncode}):\n{run.stderr}")
    return run.stdout


def accepted_vulnerabilities(path: Path = ACCEPTED) -> list[dict[str, Any]]:
    """The accepted ones, each with its id, the reason, and the date of the decision."""
    return tomllib.loads(path.read_text(encoding="utf-8")).get("vulnerability", [])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--requirements", type=Path, default=REQUIREMENTS)
    options, others = parser.parse_known_args()
    report = report_of(pip_audit_json(options.requirements, others), accepted_vulnerabilities())
    sys.stdout.writelines(f"{line}\n" for line in report.lines())
    sys.exit(1 if report.open else 0)


if __name__ == "__main__":
    main()
