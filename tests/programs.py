"""Programs that tests start, talk to and kill: processes of their own, forked from one that has the package loaded.

Python and its imports would be most of what such a program takes. The one that is forked has no threads, no open store
and nothing of the test's process; where a fresh interpreter is the point, start one with `subprocess`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pty
import runpy
import signal
import subprocess
import sys
import termios
import threading
import warnings
from collections.abc import Collection, Mapping
from fcntl import ioctl
from multiprocessing.connection import Connection
from pathlib import Path
from struct import pack
from types import TracebackType
from typing import Any, TextIO

HEXAD = "import runpy; runpy.run_module('hexad', run_name='__main__')"
"""The program `python -m hexad`; its arguments follow."""
_LOADED = {"hexad", "numpy", "apsw", "duckdb", "click", "rich", "cryptography"}
CONTEXT = multiprocessing.get_context("forkserver")


def preload() -> None:
    """Let what is forked have loaded what this process has; it says no more once the first program was started."""
    CONTEXT.set_forkserver_preload(
        # `hexad.__main__` is what a program runs: a module that is loaded already cannot be run without a warning.
        sorted(
            name
            for name in list(sys.modules)
            if name.partition(".")[0] in _LOADED and not name.endswith(".__main__")
        )
    )


def _run(
    code: str | Path,
    args: tuple[str, ...],
    cwd: str,
    environment: dict[str, str],
    pipes: tuple[Connection, ...],
) -> None:
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding=encoding)  # noqa: SIM115 - for as long as the program runs
        for number, mode in enumerate(("r", "w", "w"))
    )
    os.environ.clear()
    os.environ.update(environment)
    if environment.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    os.chdir(cwd)
    if isinstance(code, Path):
        sys.argv = [str(code), *args]
        sys.path.insert(0, str(code.parent))
        runpy.run_path(str(code), run_name="__main__")
    else:
        sys.argv = ["-c", *args]
        exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})


class Program:
    """A started program, with what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        code: str | Path,
        *args: object,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        terminal: int | None = None,
        on_terminal: Collection[int] = (0, 1, 2),
    ) -> None:
        """Run a file, or the text of one, with arguments; its environment and folder are those of the test.

        With the file number of a `terminal` these of its input and outputs are that terminal, and not pipes.
        """
        preload()
        taken, given = CONTEXT.Pipe(duplex=False)
        said = [CONTEXT.Pipe(duplex=False) for _ in range(2)]
        pipes = [taken, *(writer for _, writer in said)]
        if terminal is not None:
            for number in on_terminal:
                pipes[number].close()
                pipes[number] = Connection(os.dup(terminal))
        self._process = CONTEXT.Process(
            target=_run,
            args=(
                code, tuple(map(str, args)), str(cwd or Path.cwd()), dict(os.environ if env is None else env),
                tuple(pipes),
            ),
            daemon=True,
        )  # fmt: skip
        self._process.start()
        for theirs in pipes:
            theirs.close()
        self.stdin: TextIO = _taken(given, "w")
        self.stdout: TextIO = _taken(said[0][0], "r")
        self.stderr: TextIO = _taken(said[1][0], "r")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, a signal as its negative number; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("the program", timeout or 0)
        return self._process.exitcode

    def communicate(self, input: str | bytes | None = None, timeout: float | None = None) -> tuple[str, str]:
        """Hand in the input, if any, wait for the end, and return what was not read yet of both outputs."""
        found: dict[str, str] = {}

        def read(name: str, file: TextIO) -> None:
            found[name] = file.read()

        readers = [
            threading.Thread(target=read, args=(name, file), daemon=True)
            for name, file in (("out", self.stdout), ("err", self.stderr))
        ]
        for reader in readers:
            reader.start()
        with contextlib.suppress(BrokenPipeError):  # it ended before it read
            if input is not None:
                self.stdin.buffer.write(input if isinstance(input, bytes) else input.encode())
            self.stdin.close()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired("the program", timeout or 0)
        self.wait(timeout)
        self.stdout.close()
        self.stderr.close()
        return found["out"], found["err"]

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        for file in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(BrokenPipeError):
                file.close()
        self.wait()


def _taken(pipe: Connection, mode: str) -> Any:
    file = open(os.dup(pipe.fileno()), mode, encoding="utf-8")  # noqa: SIM115 - the program's user closes it
    pipe.close()
    return file


def run(
    code: str | Path,
    *args: object,
    input: str | bytes = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` with captured outputs does."""
    program = Program(code, *args, env=env, cwd=cwd)
    said, complained = program.communicate(input, timeout=120)
    return subprocess.CompletedProcess([str(code), *map(str, args)], program.wait(), said, complained)


def command(
    *args: object, input: str | bytes = "", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of `hexad` to its end."""
    return run(HEXAD, *args, input=input, env=env, cwd=cwd)


def command_on_terminal(
    *args: object,
    width: int,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_terminal: Collection[int] = (0, 1, 2),
) -> tuple[int, str]:
    """Run a command of `hexad` in a terminal of so many columns; returns its exit code and what was to be seen."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", 50, width, 0, 0))
    program = Program(HEXAD, *args, env=env, cwd=cwd, terminal=slave, on_terminal=on_terminal)
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):  # the other end is closed: nothing comes any more
        while data := os.read(master, 65_536):
            seen += data
    os.close(master)
    program.communicate(timeout=120)
    return program.wait(), seen.decode().replace("\r\n", "\n")
