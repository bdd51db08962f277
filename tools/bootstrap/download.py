# SPDX-License-Identifier: Apache-2.0
"""Download of Debian packages by checksum, from the first available place."""

from __future__ import annotations

import hashlib
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from tools.bootstrap.lock import Locked, LockedPackage
from tools.bootstrap.report import SetupError, say
from tools.bootstrap.sources import machine_mirrors, read_logins, read_proxies_of_apt

# Archive of all Debian packages ever published, by date.
SNAPSHOTS = "https://snapshot.debian.org/archive/debian"

ATTEMPTS = 3
_AT_ONCE = 6
_SECONDS = 60


class _Missing(Exception):
    """A server answers, but does not have the file."""


def _open(url: str) -> IO[bytes]:
    request = urllib.request.Request(url)
    if login := read_logins().get(urllib.parse.urlsplit(url).hostname or ""):
        request.add_unredirected_header("Authorization", login)
    # The usual variables first.
    proxies = {**read_proxies_of_apt(), **urllib.request.getproxies()}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    answer: IO[bytes] = opener.open(request, timeout=_SECONDS)
    return answer


def read_url(url: str, arrived: Callable[[int], None] = lambda size: None) -> bytes:
    """Return a file of a server; tries again after a fault of the network.

    Raises:
        SetupError: the file cannot be had; a `_Missing` is its cause if the server lacks it.
    """
    problem: Exception = OSError("no attempt")
    for attempt in range(ATTEMPTS):
        time.sleep(2 * attempt)
        parts = []
        try:
            with _open(url) as answer:
                while part := answer.read(1 << 18):
                    arrived(len(part))
                    parts.append(part)
            return b"".join(parts)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403, 404, 410):
                raise SetupError(f"{url}: {error}") from _Missing()
            problem = error
        except OSError as error:
            problem = error
            if isinstance(getattr(error, "reason", None), FileNotFoundError):
                raise SetupError(f"{url}: {error}") from _Missing()
        arrived(-sum(map(len, parts)))
    raise SetupError(f"{url}: {problem}") from problem


class Downloader:
    """Brings the packages of one request into a folder, several at once."""

    def __init__(self, locked: Locked, folder: Path):
        """Prepare the download.

        Args:
            locked: the packages.
            folder: kept between runs, to use finished downloads again.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._closure = folder, locked.closure
        self._places = [*machine_mirrors(), f"{SNAPSHOTS}/{locked.date}"]
        self._dead: dict[str, str] = {}
        self._arrived = 0
        self._lock = threading.Lock()

    def _count(self, size: int) -> None:
        with self._lock:
            self._arrived += size

    def _is_whole(self, package: LockedPackage) -> bool:
        path = self._folder / package.file
        if not path.is_file() or path.stat().st_size != package.size:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == package.sha256

    def _bring(self, package: LockedPackage) -> Path:
        path = self._folder / package.file
        if self._is_whole(package):
            self._count(package.size)
            return path
        problems = []
        for place in self._places:
            if place in self._dead:
                problems.append(self._dead[place])
                continue
            try:
                data = read_url(f"{place}/{urllib.parse.quote(package.path)}", self._count)
            except SetupError as error:
                problems.append(str(error))
                if not isinstance(error.__cause__, _Missing):
                    self._dead[place] = str(error)
                continue
            if hashlib.sha256(data).hexdigest() == package.sha256:
                part = path.with_name(f"{path.name}.part")
                part.write_bytes(data)
                part.replace(path)
                return path
            self._count(-len(data))
            problems.append(f"{place}/{package.path} has the wrong checksum")
        raise SetupError("\n  ".join([f"cannot download {package.file}:", *problems]))

    def each(self, use: Callable[[Path], None]) -> None:
        """Download all packages and call `use` with each file, from several threads.

        Raises:
            SetupError: no place has a package with the right checksum.
        """
        # The largest first: the last of all is a short one.
        closure = sorted(self._closure, key=lambda package: -package.size)
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=[done], daemon=True)
        watch.start()
        try:
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                tasks = [threads.submit(lambda p: use(self._bring(p)), p) for p in closure]
                try:
                    for task in tasks:
                        task.result()
                except BaseException:
                    for task in tasks:
                        task.cancel()
                    raise
        finally:
            done.set()
            watch.join()

    def _watch(self, done: threading.Event, every: float = 5.0) -> None:
        start = time.monotonic()
        total = sum(package.size for package in self._closure) / 1e6
        while not done.wait(every):
            arrived = self._arrived / 1e6
            if arrived < total:
                rate = arrived / (time.monotonic() - start)
                name = self._folder.parent.stem
                say(f"  {name}: {arrived:.0f} of {total:.0f} MB ({rate:.1f} MB/s)")
