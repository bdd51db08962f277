# SPDX-License-Identifier: Apache-2.0
from tools.text.signal_handling import stoppable

import os
import signal
import subprocess
import sys

import pytest


def test_a_program_that_is_stopped_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main(argv: list[str]) -> int:
        if argv:
            raise KeyboardInterrupt
        return 3

    assert stoppable(main)([]) == 3
    with pytest.raises(SystemExit) as stopped:
        stoppable(main)(["a"])
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "stopped\n")


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_program_that_nobody_reads_ends(lines: int) -> None:
    """The program notices it while it prints or at its end."""
    code = (
        "import sys; from tools.text.signal_handling import stoppable; sys.stdin.read();"
        f"sys.exit(stoppable(lambda _: print('\\n'.join(['line'] * {lines})))([]))"
    )
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as run:
        assert run.stdin and run.stdout and run.stderr
        run.stdout.close()
        run.stdin.close()
        assert (run.stderr.read(), run.wait()) == (b"", 141)


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_full_disk_is_one_line(lines: int) -> None:
    code = (
        "import sys; from tools.text.signal_handling import stoppable;"
        f"sys.exit(stoppable(lambda _: print('\\n'.join(['line'] * {lines})))([]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False
        )
    said = b"what is written does not fit: [Errno 28] No space left on device\n"
    assert (done.stderr, done.returncode) == (said, 1)


@pytest.mark.parametrize("times", [1, 10000])
def test_help_that_nobody_reads_ends(times: int) -> None:
    """Text fitting the buffer is written at the end, longer text before."""
    code = (
        "import sys; sys.stdin.read()\n"
        "from tools.text.signal_handling import run_main; from absl import flags\n"
        f"flags.DEFINE_bool('number', False, 'numbers ' * {times})\n"
        "run_main(lambda argv: 3)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, "--help"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as run:
        assert run.stdin is not None and run.stdout is not None and run.stderr is not None
        run.stdout.close()
        run.stdin.close()
        assert (run.stderr.read(), run.wait()) == (b"", 141)


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_program_that_is_stopped_while_it_imports_says_so() -> None:
    code = "import tools.text.signal_handling, signal; signal.raise_signal(signal.SIGINT)"
    done = _run(code)
    assert (done.stdout, done.stderr, done.returncode) == ("", "stopped\n", -signal.SIGINT)


def test_a_signal_waits_until_a_program_is_started() -> None:
    code = (
        "import signal; from tools.text.signal_handling import held\n"
        "with held():\n    signal.raise_signal(signal.SIGINT); print('started')\n"
        "print('not reached')"
    )
    done = _run(code)
    assert (done.stdout, done.stderr) == ("started\n", "stopped\n")


def test_other_errors_are_shown_as_always() -> None:
    done = _run("import tools.text.signal_handling; 1 / 0")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n") and done.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ([], 3, "[1]"),
        (["--number=5"], 3, "[5]"),
        (["--help"], 0, "--number"),
        (["--helpfull"], 0, "--number"),
        (["-?"], 0, "--number"),
        (["--nonsense"], 2, "Unknown command line flag 'nonsense'"),
        (["--number=x", "--help"], 2, "invalid literal"),
    ],
)
def test_asking_for_help_is_no_failure(arguments: list[str], status: int, text: str) -> None:
    code = (
        "from tools.text.signal_handling import run_main; from absl import flags\n"
        "number = flags.DEFINE_multi_integer('number', [1], 'numbers')\n"
        "def main(argv): print(number.value, argv[1:]); return 3\n"
        "run_main(main)"
    )
    done = _run(code, *arguments)
    assert text in done.stdout + done.stderr, done
    assert done.returncode == status


def test_a_flag_that_is_missing_is_named_with_its_help() -> None:
    done = _run(
        "from tools.text.signal_handling import run_main; from absl import flags\n"
        "flags.DEFINE_string('key', None, 'A private key.', required=True)\n"
        "flags.DEFINE_string('output', None, 'The signed image.', required=True)\n"
        "run_main(lambda argv: 3)"
    )
    text = "--key is missing: A private key.\n--output is missing: The signed image.\n"
    assert (done.stderr, done.returncode) == (f"{text}--help lists the flags\n", 2)


def test_a_wrong_argument_is_one_line_without_all_flags() -> None:
    done = _run(
        "from tools.text.signal_handling import run_main; from absl import app\n"
        "def main(argv): raise app.UsageError('name one program')\n"
        "run_main(main)"
    )
    assert (done.stdout, done.stderr) == ("", "name one program\n--help lists the flags\n")
    assert done.returncode == 2
