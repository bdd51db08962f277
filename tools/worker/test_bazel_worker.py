# SPDX-License-Identifier: Apache-2.0

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Actions see the worker's imports and state. Changes made by an action are gone for the next one.
_PROGRAM = """
import os, sys, time
from pathlib import Path
from tools.worker.bazel_worker import run_actions, runfiles
import kept, of_the_worker

def program():
    kept.count += 1
    print(kept.count, sys.argv[1:], repr(sys.stdin.read()))
    what, *rest = sys.argv[1:]
    if what == "raise":
        raise ValueError(rest[0])
    if what == "exit":
        sys.exit(eval(rest[0]))
    if what == "kill":
        os.kill(os.getpid(), int(rest[0]))
    if what == "sleep":
        sys.stdout.flush()
        Path(rest[0]).write_text(str(os.getpid()))
        time.sleep(600)
    if what == "import":
        with runfiles(Path(rest[0])):
            import alone
            from kept.more import VALUE
            import of_the_worker.more
            data = Path(os.environ["RUNFILES_DIR"], "other/data.txt")
            print(VALUE, alone.VALUE, data.read_text())

run_actions(program)
"""


class _Worker:
    cancelled: bool

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, program, "--persistent_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(program.parent),
            text=True,
        )

    def ask(self, *arguments: str) -> None:
        self._write({"arguments": arguments})

    def cancel(self) -> None:
        self._write({"cancel": True})

    def _write(self, request: dict[str, object]) -> None:
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)

    def answer(self) -> tuple[int, str]:
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        self.cancelled = answer["wasCancelled"]
        return answer["exitCode"], answer["output"]


def _environment(folder: Path) -> dict[str, str]:
    before = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{folder / 'modules'}:{before}"}


@pytest.fixture(name="program")
def _program(tmp_path: Path) -> Path:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    for name in ("kept", "of_the_worker"):
        package = tmp_path / "modules" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("count = 0\n")
    (package / "more.py").touch()
    return program


@pytest.fixture(name="worker")
def _worker(program: Path) -> Iterator[_Worker]:
    worker = _Worker(program)
    yield worker
    worker.process.kill()
    worker.process.communicate()


def test_actions_see_nothing_of_one_another(worker: _Worker) -> None:
    for argument in ("a", "größe 'x'", "größe".encode().decode("latin-1"), "ж"):
        worker.ask("say", argument)
        said = argument.replace("Ã¶Ã\x9f", "öß")
        assert worker.answer() == (0, f"1 ['say', {said!r}] ''\n")
    worker.process.communicate()
    assert worker.process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["exit", "3"], 3, ""),
        (["exit", "None"], 0, ""),
        (["exit", "'what is wrong'"], 1, "what is wrong\n"),
        (["raise", "what is wrong"], 1, "ValueError: what is wrong\n"),
        (["kill", str(int(signal.SIGSEGV))], 11, "ended by SIGSEGV\n"),
    ],
)
def test_an_action_that_ends_does_not_end_the_worker(
    worker: _Worker, arguments: list[str], code: int, said: str
) -> None:
    for _ in range(2):
        worker.ask(*arguments)
        found, output = worker.answer()
        assert (found, output.endswith(said)) == (code, True)


def _asleep(worker: _Worker, tmp_path: Path) -> Path:
    """Make the worker start an action that does not end; return its folder in /proc."""
    started = tmp_path / "started"
    worker.ask("sleep", str(started))
    for _ in range(3000):
        if started.exists() and started.read_text():
            break
        time.sleep(0.01)
    return Path("/proc", started.read_text())


def _has_ended(action: Path) -> bool:
    try:
        return "(zombie)" in (action / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # before or while it is read
        return True


def _wait_for_end(action: Path) -> None:
    for _ in range(3000):
        if _has_ended(action):
            return
        time.sleep(0.01)
    raise AssertionError("it has not ended")


def test_an_action_that_bazel_stops_ends(worker: _Worker, tmp_path: Path) -> None:
    action = _asleep(worker, tmp_path)
    for _ in range(2):  # the second one comes late
        worker.cancel()
    assert worker.answer() == (9, f"1 ['sleep', '{tmp_path}/started'] ''\nended by SIGKILL\n")
    assert worker.cancelled
    assert not action.exists()
    worker.ask("say")
    assert worker.answer() == (0, "1 ['say'] ''\n")
    assert not worker.cancelled


def test_an_action_ends_with_its_worker(worker: _Worker, tmp_path: Path) -> None:
    action = _asleep(worker, tmp_path)
    worker.process.kill()
    worker.process.wait()
    _wait_for_end(action)


def test_an_action_ends_when_bazel_has_gone(worker: _Worker, tmp_path: Path) -> None:
    action = _asleep(worker, tmp_path)
    worker.process.communicate()
    _wait_for_end(action)


def _runfiles(tmp_path: Path) -> Path:
    """Another program's runfiles, where an action has them: with more in the package `kept`."""
    places = {
        "kept/__init__.py": "raise ImportError('it was imported before')\n",
        "kept/more.py": "import kept\nVALUE = kept.count\n",
        "../other/below/alone.py": "from os import environ\n"
        "VALUE = __file__.split('.runfiles/')[1] + environ['AT_THE_START']\n",
        "../checks/sitecustomize.py": "import os\nos.environ['AT_THE_START'] = ''\n",
        "../other/data.txt": "data",
    }
    lines = ["ours", "other/below", ""]
    for index, (short_path, text) in enumerate(places.items()):
        (tmp_path / f"input{index}").write_text(text)
        lines.append(f"{short_path}\t{tmp_path}/input{index}")
    listed = tmp_path / "of_another.list"
    listed.write_text("\n".join(lines) + "\n")
    return listed


def test_an_action_has_the_runfiles_of_another_program(worker: _Worker, tmp_path: Path) -> None:
    listed = _runfiles(tmp_path)
    (tmp_path / "of_another.runfiles/left").mkdir(parents=True)  # left by a stopped action
    for _ in range(2):
        worker.ask("import", str(listed))
        assert worker.answer() == (
            0,
            f"1 ['import', '{listed}'] ''\n1 other/below/alone.py data\n",
        )
        assert not (tmp_path / "of_another.runfiles").exists()


def test_without_a_worker_it_is_an_ordinary_program(program: Path, tmp_path: Path) -> None:
    arguments = ["import", str(_runfiles(tmp_path))]
    done = subprocess.run(
        [sys.executable, program, *arguments],
        env=_environment(tmp_path),
        input="",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"1 {arguments} ''\n1 other/below/alone.py data\n"
