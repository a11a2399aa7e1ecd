"""One node in a process group of its own: start, stop, kill, pause, and resume."""

import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.opensearch.layout import class_path
from tests.opensearch.programs import last_lines

STOP_S = 20
LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")


@dataclass(eq=False)
class Node:
    """A node over its home folder (config, data, log), which every start reuses."""

    name: str
    home: Path
    layout: Path
    url: str
    heap_mb: int
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return self.home / "node.log"

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the process without waiting until it answers; `Cluster.wait` does.

        When this process ends, however it ends, a running node sees the end of its input. A paused
        node cannot; but the kernel hangs up and continues a stopped group of the same session whose
        last parent outside the group has ended.
        """
        assert not self.running, f"{self.name} runs already"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(),
                cwd=self.home,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    def _command(self) -> list[str | Path]:
        memory = [f"-Xms{self.heap_mb}m", f"-Xmx{self.heap_mb}m", "-XX:+ExitOnOutOfMemoryError"]
        logging = [f"-Dlog4j2.configurationFile={LOG_SETTINGS}", "-Dlog4j2.disable.jmx=true"]
        temporary = self.home / "tmp"
        return [
            *("java", *memory, *logging, f"-Djava.io.tmpdir={temporary}"),
            *("-cp", class_path(self.layout), "Launcher", self.home),
        ]

    def stop(self) -> None:
        """Ask it to close, and kill it if it has not ended after STOP_S."""
        if self.running:
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)  # if it is paused
            self._end(STOP_S)

    def kill(self) -> None:
        if self.running:
            self._signal(signal.SIGKILL)
            self._end(STOP_S)

    def pause(self) -> None:
        """Freeze it: connections stay open, and nothing answers.

        Waits for that, because the kernel ends only groups that stopped before their parent ended.
        """
        assert self.process is not None, f"{self.name} was never started"
        self._signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def log_tail(self) -> str:
        return last_lines(self.log.read_text("utf-8", errors="replace"))

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None, f"{self.name} was never started"
        os.killpg(self.process.pid, number)

    def _end(self, limit_s: float) -> None:
        assert self.process is not None
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self.process.wait(limit_s)
        assert self.process.stdin is not None
        self.process.stdin.close()
