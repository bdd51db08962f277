# SPDX-License-Identifier: Apache-2.0
"""Program kept by Bazel (a persistent worker): its imports happen once for many actions.

Each action runs in a fork of the process and ends with it. No action sees changes made by another.
"""

import ctypes
import json
import os
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any, NoReturn, cast

_PR_SET_PDEATHSIG = 1


def run_actions(program: Callable[[], None]) -> None:
    """Run a program once, or as Bazel's worker for each of many actions, until Bazel ends.

    Args:
        program: has imported all modules the actions need; takes arguments from
            `sys.argv` and ends with `sys.exit`, or an exception.
    """
    if sys.argv[1:] != ["--persistent_worker"]:
        program()
        return
    worker, requests = os.getpid(), _Requests(sys.stdin.fileno())
    while (request := requests.next()) is not None:
        if request.get("cancel"):
            continue  # the action has ended already
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                _be_action(worker, printed.fileno(), request["arguments"], program)
            cancelled = requests.come_before_the_end_of(child)
            if cancelled:
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            printed.seek(0)
            text = printed.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            text += f"ended by {signal.Signals(-code).name}\n"
        answer = {"exitCode": abs(code), "output": text, "wasCancelled": cancelled}
        print(json.dumps(answer), flush=True)


class _Requests:
    """Requests from Bazel, one per line: an action, or a request to end the running one."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._read = b""

    def next(self) -> dict[str, Any] | None:
        """Return the next one; None at the end."""
        while b"\n" not in self._read:
            part = os.read(self._source, 1 << 16)
            if not part:
                return None
            self._read += part
        line, _, self._read = self._read.partition(b"\n")
        return cast(dict[str, Any], json.loads(line))

    def come_before_the_end_of(self, child: int) -> bool:
        """Wait for a request, or for the process."""
        end = os.pidfd_open(child)
        try:
            return bool(self._read) or self._source in select([end, self._source], [], [])[0]
        finally:
            os.close(end)


def _be_action(
    worker: int, printed: int, arguments: list[str], program: Callable[[], None]
) -> NoReturn:
    # Bazel may kill the worker.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:
        os._exit(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.dup2(printed, sys.stdout.fileno())
    os.dup2(printed, sys.stderr.fileno())
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # in order with stderr
    sys.argv[1:] = map(_text, arguments)
    status = 1
    try:
        program()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    # End immediately: cleaning up the imports takes as long as a small action.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _text(argument: str) -> str:
    """Return a file name as text: Bazel 7 has a character for each byte."""
    try:
        return argument.encode("latin-1").decode()
    except UnicodeError:
        return argument


@contextmanager
def runfiles(listed: Path) -> Iterator[None]:
    """Use another program's runfiles inside the `with` block; they are inputs of the action. This
    program imports its modules and finds its data. Already imported modules stay.

    Args:
        listed: the file of `runfiles_list` (bazel_worker.bzl).
    """
    lines = listed.read_text().splitlines()
    workspace, folders, files = lines[0], lines[1 : lines.index("")], lines[lines.index("") + 1 :]
    root = str(listed.with_suffix(".runfiles").absolute())
    shutil.rmtree(root, ignore_errors=True)  # left by a stopped action
    places = dict(line.split("\t") for line in files)
    links = {os.path.normpath(f"{root}/{workspace}/{name}"): name for name in places}
    for folder in {os.path.dirname(link) for link in links}:
        os.makedirs(folder, exist_ok=True)
    for link, name in links.items():
        os.symlink(os.path.abspath(places[name]), link)
    try:
        repositories = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        _import_from([root, *(f"{root}/{folder}" for folder in [*folders, *repositories])])
        os.environ["RUNFILES_DIR"] = root
        os.environ.pop("RUNFILES_MANIFEST_FILE", None)
        yield
    finally:
        shutil.rmtree(root)


def _import_from(folders: list[str]) -> None:
    """Search modules there instead of the folders in PYTHONPATH."""
    before = [path for path in os.environ["PYTHONPATH"].split(":") if path]
    os.environ["PYTHONPATH"] = ":".join(folders)
    sys.path[:] = [*folders, *(path for path in sys.path if path not in before)]
    # Already imported packages have further modules there. Packages without their own file handle
    # that themselves.
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.endswith("/__init__.py") and file.startswith(tuple(f"{path}/" for path in before)):
            places = [f"{folder}/{name.replace('.', '/')}" for folder in folders]
            found = [place for place in places if os.path.isfile(f"{place}/__init__.py")]
            module.__path__ = found[:1] or module.__path__  # one of the worker alone stays
    # The interpreter runs the first one when it starts (packages of @python_checks).
    hooks = (f"{folder}/sitecustomize.py" for folder in folders)
    if hook := next(filter(os.path.isfile, hooks), None):
        runpy.run_path(hook)
