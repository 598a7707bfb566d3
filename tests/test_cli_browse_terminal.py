"""The browser in a real terminal: the program in a pseudo-terminal, and in tmux where there is one."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from struct import pack

import pytest

import hexad

PATIENCE_S = 30.0
ESCAPE = "The pump \x1b[2J\x1b]0;owned\x07 is red."


@pytest.fixture
def folder(tmp_path) -> Path:
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        for number in range(40):
            hx.remember(
                f"Item {number} of the harbour.", id=f"mem_{number:02}", path=f"port/items/item-{number:02}"
            )
        hx.remember(ESCAPE, id="mem_pump", path="port/pumps/red", kind="decision")
    return tmp_path


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    return {**kept, "TERM": "xterm", "HEXAD_EMBEDDER": "none", "PYTHONWARNINGS": "error", "LC_ALL": "C.UTF-8"}


@dataclass(slots=True)
class Typist:
    """A person at a terminal: what they see so far, and what they type."""

    process: subprocess.Popen[bytes]
    master: int
    seen: bytearray = field(default_factory=bytearray)

    def waits_for(self, text: str) -> None:
        """Read until the program has written `text`; fails when it takes too long."""
        deadline = time.monotonic() + PATIENCE_S
        while text.encode() not in self.seen:
            assert time.monotonic() < deadline, (text, bytes(self.seen))
            if select.select([self.master], [], [], 0.2)[0]:
                with suppress(OSError):
                    self.seen += os.read(self.master, 65536)

    def types(self, keys: str) -> None:
        self.seen.clear()
        os.write(self.master, keys.encode())

    def ended(self) -> int:
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline
            if select.select([self.master], [], [], 0.1)[0]:
                with suppress(OSError):
                    self.seen += os.read(self.master, 65536)
        return self.process.returncode


@contextmanager
def typist(folder: Path, *args: str, **variables: str) -> Iterator[Typist]:
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "memory", "browse", *args],
        cwd=folder,
        env={**environment(), **variables},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - Ctrl-C needs a controlling terminal
    )
    try:
        yield Typist(process, master)
        assert before == termios.tcgetattr(slave), "the terminal was not left as it was found"
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


@pytest.mark.row("L171")
def test_a_person_browses_pins_and_leaves(folder):
    with typist(folder) as person:
        person.waits_for("41 memories")
        person.types("/item-07\r")
        person.waits_for("1 of 1 memory")
        person.types("p")
        person.waits_for("Pinned.")
        person.types("\r")
        person.waits_for("Item 7 of the harbour.")
        person.types("qq")
        assert 0 == person.ended()
    with hexad.open(folder, embedder=None, background=False) as hx:
        assert ["mem_07"] == [memory.id for memory in hx.memories(pinned=True)]


def test_what_a_memory_holds_does_not_drive_the_terminal(folder):
    with typist(folder) as person:
        person.waits_for("41 memories")
        person.types("/pump\r\r")
        person.waits_for("is red.")
        shown = bytes(person.seen)
        person.types("qq")
        person.ended()

    assert b"\x1b]0;owned" not in shown and "�]0;owned�".encode() in shown


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_browser_and_gives_the_terminal_back(folder, number, code):
    with typist(folder) as person:
        person.waits_for("41 memories")
        person.process.send_signal(number)
        assert code == person.ended()


def test_ctrl_c_ends_the_browser(folder):
    with typist(folder) as person:
        person.waits_for("41 memories")
        person.types("\x03")
        assert 130 == person.ended()


def test_an_error_gives_the_terminal_back_and_is_said_afterwards(folder):
    with typist(folder, "nowhere") as person:
        person.waits_for("Space 'nowhere' not found")
        assert 3 == person.ended()


def test_the_terminal_may_change_its_size_at_any_time(folder):
    with typist(folder) as person:
        person.waits_for("41 memories")
        for lines, columns in ((3, 10), (1, 1), (60, 200), (24, 80)):
            person.seen.clear()
            ioctl(person.master, termios.TIOCSWINSZ, pack("HHHH", lines, columns, 0, 0))
            os.killpg(person.process.pid, signal.SIGWINCH)
            time.sleep(0.4)
        person.waits_for("41 memories")
        person.types("q")
        assert 0 == person.ended()


def test_a_terminal_that_says_no_size_is_taken_to_have_the_usual_one(folder):
    with typist(folder) as person:
        person.waits_for("41 memories")
        ioctl(person.master, termios.TIOCSWINSZ, pack("HHHH", 0, 0, 0, 0))
        person.types("/item-07\r")
        person.waits_for("1 of 1 memory")
        person.types("q")
        assert 0 == person.ended()


def test_no_colour_is_used_when_none_is_wanted(folder):
    def colours(**variables: str) -> bool:
        with typist(folder, **{"TERM": "xterm-256color", **variables}) as person:
            person.waits_for("quit")
            shown = bytes(person.seen)
            person.types("q")
            person.ended()
        return b"\x1b[36m" in shown

    assert (True, False) == (colours(), colours(NO_COLOR="1"))


@pytest.mark.parametrize(
    ("variables", "words"),
    [({"TERM": "dumb"}, "cannot"), ({"TERM": "nosuchterminal"}, "does not know this terminal")],
)
def test_a_terminal_that_cannot_show_it_is_told_what_to_use(folder, variables, words):
    with typist(folder, **variables) as person:
        person.waits_for("memory list")
        assert 2 == person.ended()
    assert words.encode() in person.seen.replace(b"\r\n", b" ")


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_without_a_terminal_it_names_the_command_to_use(folder, stream):
    done = subprocess.run(
        [sys.executable, "-m", "hexad", "memory", "browse"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert "needs a terminal" in done.stderr and "`hexad memory list`" in done.stderr


# In tmux, which shows what a person would see -----------------------------------------------------------------


@pytest.fixture
def tmux(tmp_path_factory) -> Iterator[list[str]]:
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed: the lines as a terminal shows them are not looked at")
    command = [program, "-u", "-f", "/dev/null", "-S", str(tmp_path_factory.mktemp("tmux") / "socket")]
    yield command
    subprocess.run([*command, "kill-server"], check=False, capture_output=True)


def screen_of(tmux: list[str], *, having: str) -> list[str]:
    """Return the lines on the screen as soon as one of them has the words."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        shown = subprocess.run(
            [*tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True, encoding="utf-8"
        ).stdout
        if having in shown:
            return shown.splitlines()
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40)])
def test_a_screen_holds_title_list_and_keys_at_this_size(folder, tmux, columns, lines):
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.remember(
            "記憶の容れ物はここにある。" * 5,
            path="port/wide/記憶の容れ物はここにあるとても長い",
            kind="guide",
        )
        hx.remember("z" + "\u0301" * 40 + "algo 👨‍👩‍👧 and 🎉", path="port/odd/emoji🎉", kind="guide")
    command = f"{sys.executable} -m hexad memory browse"
    size = ["-x", str(columns), "-y", str(lines)]
    subprocess.run(
        [*tmux, "new-session", "-d", *size, "-c", str(folder), command], check=True, env=environment()
    )

    shown = screen_of(tmux, having="43 memories")

    assert shown[0].startswith(" hexad  all spaces") and shown[0].endswith("by last change")
    assert shown[2].split() == ["changed", "kind", "path", "summary"]
    starts = {line.index("2") for line in shown[3 : lines - 2] if line.strip()}
    assert {2} == starts and lines - 5 == len([line for line in shown[3 : lines - 2] if line.strip()])
    assert shown[lines - 1].lstrip().startswith("Enter open")
    subprocess.run([*tmux, "send-keys", "/", "wide", "Enter", "Enter"], check=True)
    opened = screen_of(tmux, having="summary_micro")
    assert opened[0].startswith(" port/wide/記憶の容れ物はここにあるとても長い")
