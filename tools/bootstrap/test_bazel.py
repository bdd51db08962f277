# SPDX-License-Identifier: Apache-2.0
"""Choice of Bazel by tools/bazel. Every program on PATH except the basic ones is a fake."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bootstrap.bazel import _manifest_header
from tools.bootstrap.deb import relink_absolute

SCRIPT = Path("tools/bazel").absolute()
IN_A_PIPE = f"--bazelrc={SCRIPT.resolve().parent}/in_a_pipe.bazelrc"
WITHOUT_COLOR = f"--bazelrc={SCRIPT.resolve().parent}/without_color.bazelrc"
WITHOUT_NAMESPACES = f"--bazelrc={SCRIPT.resolve().parent}/without_namespaces.bazelrc"
BASIC = ["sh", "id", "ls", "mkdir", "readlink"]


class Machine:
    """PATH with a few basic programs and with fakes that report their arguments."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "bin"
        self.path.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        for name in BASIC:
            found = shutil.which(name)
            assert found
            (self.path / name).symlink_to(found)
        self.program("unshare", "exit 0")

    def program(self, name: str, text: str) -> None:
        """A program on PATH, of lines of sh."""
        (self.path / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.path / name).chmod(0o755)

    def add(self, name: str, version: str = "", folder: Path | None = None) -> Path:
        program = (folder or self.path) / name
        program.write_text(
            "#!/bin/sh\n"
            f'[ "$1" = --version ] && {{ echo "bazel {version}"; exit; }}\n'
            f'echo "{name}: $*"\n'
        )
        program.chmod(0o755)
        return program

    def add_set_up(self) -> None:
        """Add a python3 that sets up a Bazel immediately."""
        launcher = self.add("launcher", folder=self.folder)
        python = self.path / "python3"
        python.write_text(f'#!/bin/sh\necho "python3: $*" >&2\necho "{launcher}"\n')
        python.chmod(0o755)

    def run(
        self, folder: Path | None = None, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run the script in a pipe; remove the option the script adds for Bazel in this case."""
        done = subprocess.run(
            [SCRIPT, "build", "//a b"],
            cwd=folder,
            env={"PATH": str(self.path), "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
        )
        done.stdout = done.stdout.replace(f"{IN_A_PIPE} ", "")
        return done

    def run_on_a_terminal(self) -> str:
        """Return Bazel's arguments."""
        ours, theirs = pty.openpty()
        try:
            environment = {"PATH": str(self.path), "HOME": str(self.home)}
            command = [str(SCRIPT), "build", "//a b"]
            return subprocess.check_output(command, env=environment, stderr=theirs, text=True)
        finally:
            os.close(ours)
            os.close(theirs)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(("value", "flag"), [("1", f"{WITHOUT_COLOR} "), ("", "")])
def test_no_color_where_none_is_wanted(machine: Machine, value: str, flag: str) -> None:
    machine.add("bazelisk")
    assert machine.run(NO_COLOR=value).stdout == f"bazelisk: {flag}build //a b\n"


def test_version_needs_no_server(machine: Machine) -> None:
    machine.add("bazelisk", "7.7.1")
    environment = {"PATH": str(machine.path), "HOME": str(machine.home)}
    assert subprocess.check_output([SCRIPT, "version"], env=environment) == b"bazel 7.7.1\n"


def test_little_of_progress_where_it_stays(machine: Machine) -> None:
    machine.add("bazelisk")
    assert machine.run_on_a_terminal() == "bazelisk: build //a b\n"
    environment = {"PATH": str(machine.path), "HOME": str(machine.home)}
    done = subprocess.run([SCRIPT, "info"], env=environment, capture_output=True, text=True)
    assert done.stdout == f"bazelisk: {IN_A_PIPE} info\n"
    assert Path(IN_A_PIPE.removeprefix("--bazelrc=")).exists()


@pytest.mark.parametrize("machine_has", [True, False])
def test_workers_without_namespaces(machine: Machine, machine_has: bool) -> None:
    """Most containers: unshare fails, or is not there."""
    machine.add("bazelisk")
    if machine_has:
        machine.program("unshare", "echo 'unshare failed: Operation not permitted' >&2; exit 1")
    else:
        (machine.path / "unshare").unlink()
    done = machine.run()
    assert done.stdout == f"bazelisk: {WITHOUT_NAMESPACES} build //a b\n"
    assert done.stderr == ""
    rc = Path(WITHOUT_NAMESPACES.removeprefix("--bazelrc=")).read_text()
    (line,) = [line for line in rc.splitlines() if not line.startswith("#")]
    assert line.replace("--no", "--") in (SCRIPT.resolve().parent.parent / ".bazelrc").read_text()


@pytest.mark.parametrize("language", [None, "C", "de_DE.ISO-8859-1", "tr_TR.UTF-8"])
def test_one_locale_for_everybody(machine: Machine, language: str | None) -> None:
    machine.program("bazelisk", 'echo "$LC_ALL"')
    given = {} if language is None else {"LANG": language, "LC_ALL": language}
    assert machine.run(None, **given).stdout == "C.UTF-8\n"


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("case $1 in -un) echo 4242; exit 1 ;; *) echo 4242 ;; esac", "4242"),
        ("case $1 in -un) exit 1 ;; *) echo 4242 ;; esac", "4242"),
        ("case $1 in -un) echo me ;; *) echo 4242 ;; esac", "me"),
    ],
)
def test_user_without_a_name(machine: Machine, text: str, user: str) -> None:
    (machine.path / "id").unlink()
    machine.program("id", text)
    machine.program("bazelisk", 'echo "$USER"')
    assert machine.run().stdout == f"{user}\n"
    assert machine.run(USER="given").stdout == "given\n"


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_letters_beyond_ascii(machine: Machine, variable: str) -> None:
    machine.add("bazelisk")
    folder = machine.folder / "jörg~ x"
    folder.mkdir()
    done = machine.run(None, **{variable: str(folder)})
    assert done.returncode == 1
    assert "bazelisk takes paths in ASCII alone" in done.stderr
    folder = folder.rename(machine.folder / "a ~")
    assert machine.run(None, **{variable: str(folder)}).returncode == 0


def test_letters_beyond_ascii_with_the_bazel_that_is_set_up(machine: Machine) -> None:
    machine.add_set_up()
    folder = machine.folder / "jörg"
    folder.mkdir()
    done = machine.run(None, HOME=str(folder))
    assert (done.returncode, done.stdout) == (0, "launcher: build //a b\n")


def test_bazel_real_comes_first(machine: Machine) -> None:
    real = machine.add("real", folder=machine.folder)
    machine.add("bazelisk")
    machine.add("bazel", "7.7.1")
    assert machine.run(BAZEL_REAL=str(real)).stdout == "real: build //a b\n"


def test_bazelisk_comes_second(machine: Machine) -> None:
    machine.add("bazelisk")
    machine.add("bazel", "7.7.1")
    assert machine.run().stdout == "bazelisk: build //a b\n"


@pytest.mark.parametrize(
    ("version", "used"),
    [
        ("7.5.0", True),
        ("7.7.1", True),
        ("7.12.0- (@non-git)", True),
        ("7.4.1", False),
        ("6.5.0", False),
        ("8.0.0", False),
        ("77.0.0", False),
        ("no_version", False),
        ("", False),
    ],
)
def test_bazel_on_path_if_it_is_good_enough(machine: Machine, version: str, used: bool) -> None:
    machine.add("bazel", version)
    machine.add_set_up()
    assert machine.run().stdout == f"{'bazel' if used else 'launcher'}: build //a b\n"


def test_this_script_on_path_is_not_bazel(machine: Machine) -> None:
    (machine.path / "bazel").symlink_to(SCRIPT)
    machine.add_set_up()
    assert machine.run().stdout == "launcher: build //a b\n"


def test_else_it_is_set_up(machine: Machine) -> None:
    machine.add_set_up()
    done = machine.run()
    assert done.stdout == "launcher: build //a b\n"
    assert "python3: -m tools.bootstrap.bazel" in done.stderr


def test_a_package_of_the_users_does_not_hide_the_set_up(machine: Machine) -> None:
    own = machine.folder / "own"
    (own / "tools").mkdir(parents=True)
    (own / "tools/__init__.py").touch()
    launcher = machine.add("launcher", folder=machine.folder)
    python = machine.path / "python3"
    imports = f'{sys.executable} -c "import tools.bootstrap.bazel"'
    python.write_text(f'#!/bin/sh\n[ "$1" != -c ] || exit 0\n{imports} && echo "{launcher}"\n')
    python.chmod(0o755)
    done = machine.run(own)
    assert done.stdout == "launcher: build //a b\n", done.stderr


def test_failed_set_up_ends(machine: Machine) -> None:
    python = machine.path / "python3"
    python.write_text('#!/bin/sh\n[ "$1" != -c ] || exit 0\necho no mirror >&2\nexit 1\n')
    python.chmod(0o755)
    done = machine.run()
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "no mirror\n")


@pytest.mark.parametrize("is_old", [False, True])
def test_no_python_that_will_do(machine: Machine, is_old: bool) -> None:
    python = machine.path / "python3"
    if is_old:
        python.write_text("#!/bin/sh\necho SyntaxError >&2\nexit 1\n")
        python.chmod(0o755)
    done = machine.run()
    assert done.returncode == 1
    assert "no python3 of version 3.8 or later is on PATH: install one" in done.stderr


@pytest.mark.parametrize("home", ["", "/nonexistent"])
def test_no_home(machine: Machine, home: str) -> None:
    machine.add("bazelisk")
    done = machine.run(HOME=home, TMPDIR=str(machine.folder))
    cache = machine.folder / f"pilotlight-{os.getuid()}"
    options = f"--output_user_root={cache}/bazel --bazelrc={cache}/bazelrc"
    assert done.stdout == f"bazelisk: {options} build //a b\n"
    assert (cache / "bazelrc").read_text() == f'common --disk_cache="{cache}/disk"\n'


def test_cache_folder_of_the_user(machine: Machine) -> None:
    machine.add("bazelisk")
    done = machine.run(XDG_CACHE_HOME=f"{machine.folder}/my cache")
    cache = machine.folder / "my cache/pilotlight"
    assert done.stdout == f"bazelisk: --bazelrc={cache}/bazelrc build //a b\n"
    assert (cache / "bazelrc").read_text() == f'common --disk_cache="{cache}/disk"\n'


def test_manifest_lines_are_short() -> None:
    value = " ".join(f"../java/library-{number}.jar" for number in range(40))
    header = _manifest_header("Class-Path", value)
    lines = header.split(b"\r\n")
    assert lines.pop() == b""
    assert all(len(line) <= 72 for line in lines)
    assert all(line.startswith(b" ") for line in lines[1:])
    joined = lines[0] + b"".join(line[1:] for line in lines[1:])
    assert joined == f"Class-Path: {value}".encode()


def test_absolute_links_turn_relative(tmp_path: Path) -> None:
    (tmp_path / "etc/java").mkdir(parents=True)
    (tmp_path / "etc/java/security").write_text("x")
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/conf").symlink_to("/etc/java/security")
    (tmp_path / "usr/lib/host").symlink_to("/etc/hostname")
    relink_absolute(tmp_path)
    assert os.readlink(tmp_path / "usr/lib/conf") == "../../etc/java/security"
    assert os.readlink(tmp_path / "usr/lib/host") == "/etc/hostname"
