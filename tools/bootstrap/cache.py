# SPDX-License-Identifier: Apache-2.0
"""The user's cache folder: finished things appear in it whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.bootstrap.report import SetupError, say

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class FullError(SetupError):
    """Full disk; the text lists the folders that need space, and their free space."""


def is_closed(folder: Path) -> bool:
    """Return False if everybody may put something into a folder."""
    return not folder.stat().st_mode & stat.S_IWOTH


def is_shared(folder: Path) -> bool:
    """Return True for the folder of a group: new files belong to it, too.

    tools/bazel has the same rules.
    """
    setgid = folder.is_dir() and folder.stat().st_mode & stat.S_ISGID
    return bool(setgid) and os.access(folder, os.W_OK | os.X_OK) and is_closed(folder)


def _is_mine(folder: Path) -> bool:
    return folder.stat().st_uid == os.getuid()


def _below(parent: Path) -> Path:
    """Make and return Pilotlight's folder in XDG_CACHE_HOME.

    A group shares it, if the parent or the folder is the group's. Another user's folder is not
    used: the folder then has this user's number.
    """
    folder = parent / "pilotlight"
    if not folder.is_dir():
        shared = is_shared(parent)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shared:
            folder.chmod(0o2770)
    if _is_mine(folder) or (is_closed(parent) and is_shared(folder)):
        return folder
    return folder.with_name(f"{folder.name}-{os.getuid()}")


def cache_root() -> Path:
    """Return Pilotlight's folder in the user's cache, and makes it.

    XDG_CACHE_HOME, else ~/.cache, else (no usable home) a private folder for temporary files.

    Raises:
        SetupError: none of them can be written, or the last belongs to somebody else.
    """
    candidates = []
    if os.path.isabs(os.environ.get("XDG_CACHE_HOME", "")):
        with suppress(OSError):
            candidates.append(_below(Path(os.environ["XDG_CACHE_HOME"])))
    for home in (os.environ.get("HOME", ""), _home_of_user()):
        if os.path.isdir(home):
            candidates.append(Path(home) / ".cache/pilotlight")
    candidates.append(Path(tempfile.gettempdir()) / f"pilotlight-{os.getuid()}")
    for folder in candidates:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        # The name with a number may be taken by anybody.
        mine = not folder.name.endswith(f"-{os.getuid()}") or _is_mine(folder)
        if mine and os.access(folder, os.W_OK | os.X_OK):
            return folder.resolve()
    raise SetupError(
        f"no cache folder can be written ({', '.join(map(str, candidates))}): set XDG_CACHE_HOME"
    )


def _home_of_user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


@contextmanager
def lock(path: Path, what: str) -> Iterator[None]:
    """Hold an exclusive lock. While another process holds it, wait and print a message."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: another process is setting up {what}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_once(name: str, make: Callable[[Path, Path], None], root: Path | None = None) -> Path:
    """Return the folder `name` of the cache, making it first if it is not there.

    `make(work, result)` fills the new folder `result`; it may keep things worth having after an
    interruption in `work`. Only when it returns does `result` get its name, in one step, and
    `work` goes away.

    Raises:
        FullError: `make` found no space left.
    """
    root = root or cache_root()
    if is_shared(root):
        # Others of the group go on where this process is interrupted.
        os.umask(0o002)
    final = root / name
    if final.is_dir():
        return final
    with lock(root / "locks" / name, name):
        if final.is_dir():
            return final
        work = root / f"{name}.work"
        result = work / "result"
        shutil.rmtree(result, ignore_errors=True)
        try:
            result.mkdir(parents=True)
            make(work, result)
        except BaseException as error:
            full = FullError(_free_space(error, root)) if _found_no_space(error) else None
            shutil.rmtree(result, ignore_errors=True)
            if full:
                raise full from error
            raise
        result.rename(final)
        shutil.rmtree(work)
    return final


def _found_no_space(error: BaseException) -> bool:
    """Return True if a disk is full, judged by an error of this process or the output
    of a program.
    """
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    texts = map(os.strerror, _NO_SPACE)
    found = isinstance(error, SetupError) and any(text in str(error) for text in texts)
    return found and not isinstance(error, FullError)


def _free_space(error: BaseException, root: Path) -> str:
    folders = {"XDG_CACHE_HOME": root, "TMPDIR": Path(tempfile.gettempdir())}
    free = (
        f"{path} has {shutil.disk_usage(path).free // 10**6} MB free" for path in folders.values()
    )
    return (
        f"{error}: {', '.join(free)}. Make room, or set {' or '.join(folders)} to a folder with "
        "more, and run the command again: what has arrived is kept"
    )
