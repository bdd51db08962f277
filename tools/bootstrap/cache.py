# SPDX-License-Identifier: Apache-2.0
"""The user's cache folder: finished things appear in it whole or not at all."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.bootstrap.report import SetupError, say


def cache_root() -> Path:
    """Returns Pilotlight's folder in the user's cache, and makes it.

    XDG_CACHE_HOME, else ~/.cache, else (no usable home) a private folder for temporary files.

    Raises:
        SetupError: none of them can be written, or the last belongs to somebody else.
    """
    candidates = []
    if os.path.isabs(os.environ.get("XDG_CACHE_HOME", "")):
        candidates.append(Path(os.environ["XDG_CACHE_HOME"]) / "pilotlight")
    for home in (os.environ.get("HOME", ""), _home_of_user()):
        if os.path.isdir(home):
            candidates.append(Path(home) / ".cache/pilotlight")
    shared = Path(tempfile.gettempdir()) / f"pilotlight-{os.getuid()}"
    for folder in [*candidates, shared]:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        mine = folder != shared or folder.stat().st_uid == os.getuid()
        if mine and os.access(folder, os.W_OK | os.X_OK):
            return folder.resolve()
    raise SetupError(
        f"no cache folder can be written ({', '.join(map(str, [*candidates, shared]))}): "
        "set XDG_CACHE_HOME"
    )


def _home_of_user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


@contextmanager
def lock(path: Path, what: str) -> Iterator[None]:
    """Holds an exclusive lock; waits, and says so, while another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: another process is setting up {what}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_once(name: str, make: Callable[[Path, Path], None], root: Path | None = None) -> Path:
    """Returns the folder `name` of the cache, making it first if it is not there.

    `make(work, result)` fills the new folder `result`; it may keep things worth having after an
    interruption in `work`. Only when it returns does `result` get its name, in one step, and
    `work` goes away.
    """
    root = root or cache_root()
    final = root / name
    if final.is_dir():
        return final
    with lock(root / "locks" / name, name):
        if final.is_dir():
            return final
        work = root / f"{name}.work"
        result = work / "result"
        shutil.rmtree(result, ignore_errors=True)
        result.mkdir(parents=True)
        try:
            make(work, result)
        except BaseException:
            shutil.rmtree(result, ignore_errors=True)
            raise
        result.rename(final)
        shutil.rmtree(work)
    return final
