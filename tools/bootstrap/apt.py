# SPDX-License-Identifier: Apache-2.0
"""Downloads Debian packages of any suite without root and without touching the machine's own apt.

Everything apt writes goes to one private folder. Of the machine's configuration only `Acquire::*`
(proxies, certificates, time limits) is kept: hooks, preferences and sources are not.
"""

import hashlib
import re
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap.report import SetupError, owned, run, say
from tools.bootstrap.sources import Mirror

ATTEMPTS = 3
_URI_LINE = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>\S+)$")


@dataclass(frozen=True)
class Package:
    """One .deb as the signed index describes it."""

    file: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return self.file.split("_")[0]

    @property
    def version(self) -> str:
        return self.file.split("_")[1].replace("%3a", ":")


def _installed_stanza(name: str) -> str:
    return (
        f"Package: {name}\nStatus: install ok installed\nVersion: 9999:0\nArchitecture: amd64\n"
        "Multi-Arch: allowed\nMaintainer: none\nDescription: taken as installed\n\n"
    )


class Apt:
    """A private apt for one suite."""

    def __init__(self, state: Path, mirror: Mirror, suite: str, without: Iterable[str] = ()):
        """Prepares the folder; no network yet.

        Args:
            state: private folder; kept between runs so that finished downloads are used again.
            mirror: where from.
            suite: for example "trixie".
            without: packages taken as installed, so that neither they nor what only they need
                are part of a closure.
        """
        self.archives = state / "archives"
        self._suite = suite
        self._config = state / "apt.conf"
        (state / "lists/partial").mkdir(parents=True, exist_ok=True)
        (self.archives / "partial").mkdir(parents=True, exist_ok=True)
        (state / "status").write_text("".join(map(_installed_stanza, sorted(set(without)))))
        (state / "sources.list").write_text(
            f"deb [signed-by={mirror.keyring}] {mirror.uri} {suite} main\n"
        )
        machine = run("reading the configuration of apt", ["apt-config", "dump"])
        kept = [line for line in machine.splitlines() if re.match(r"Acquire::\S", line)]
        self._config.write_text(
            "\n".join(
                [
                    *kept,
                    'Dir::Etc::main "/dev/null";',
                    'Dir::Etc::parts "/dev/null";',
                    'Dir::Etc::preferences "/dev/null";',
                    'Dir::Etc::preferencesparts "/dev/null";',
                    'Dir::Etc::sourceparts "/dev/null";',
                    f'Dir::Etc::sourcelist "{state}/sources.list";',
                    f'Dir::State "{state}";',
                    f'Dir::State::status "{state}/status";',
                    f'Dir::Cache "{state}";',
                    f'Dir::Cache::archives "{self.archives}";',
                    'APT::Architecture "amd64";',
                    'APT::Architectures:: "amd64";',
                    'APT::Install-Recommends "false";',
                    'APT::Sandbox::User "";',
                    'Acquire::Languages "none";',
                    'Acquire::ForceHash "SHA256";',
                    f'Acquire::Retries "{ATTEMPTS}";',
                    "",
                ]
            )
        )

    def _command(self, *arguments: str) -> list[str | Path]:
        environment = [f"APT_CONFIG={self._config}", "LC_ALL=C"]
        return owned(["env", *environment, "apt-get", "-q", *arguments])

    def _run(self, doing: str, *arguments: str) -> str:
        done = subprocess.run(
            self._command(*arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            complaints = [
                line
                for line in (done.stdout + done.stderr).splitlines()
                if line[:2] in ("E:", "W:")
            ]
            raise SetupError("\n  ".join([f"{doing} failed:", *complaints]))
        return done.stdout

    def update(self) -> None:
        """Fetches the suite's signed index.

        Raises:
            SetupError: not reachable, not signed by the mirror's keyring, or expired.
        """
        self._run(f"reading the index of Debian {self._suite}", "update", "--error-on=any")

    def closure(self, packages: Sequence[str]) -> list[Package]:
        """Returns the packages and everything that they depend on.

        Raises:
            SetupError: a package does not exist in the suite or cannot be installed.
        """
        output = self._run(
            f"resolving {' '.join(packages)} in Debian {self._suite}",
            "install",
            "--print-uris",
            "--reinstall",
            "-y",
            *packages,
        )
        found = []
        for line in output.splitlines():
            match = _URI_LINE.match(line)
            if match:
                found.append(Package(match["file"], int(match["size"]), match["sha256"]))
        if not found:
            raise SetupError(f"apt named nothing to download for {' '.join(packages)}")
        return sorted(found, key=lambda package: package.file)

    def _is_whole(self, package: Package) -> bool:
        path = self.archives / package.file
        if not path.is_file() or path.stat().st_size != package.size:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == package.sha256

    def download(self, packages: Sequence[str], closure: Sequence[Package]) -> list[Path]:
        """Downloads a closure and returns its files; what is already there and whole is kept.

        Raises:
            SetupError: after several attempts a file is still missing or has the wrong checksum.
        """
        problem = ""
        for attempt in range(1, ATTEMPTS + 1):
            missing = [package for package in closure if not self._is_whole(package)]
            if not missing:
                return [self.archives / package.file for package in closure]
            if attempt > 1:
                say(f"{len(missing)} of {len(closure)} packages are incomplete, trying again")
            for package in missing:
                (self.archives / package.file).unlink(missing_ok=True)
            total = sum(package.size for package in missing)
            say(f"downloading {len(missing)} packages, {total / 1e6:.0f} MB")
            with _Progress(self.archives, sum(p.size for p in closure) - total, total):
                try:
                    self._run("download", "install", "--download-only", "-y", *packages)
                except SetupError as error:
                    problem = str(error)
        wrong = [package.file for package in closure if not self._is_whole(package)]
        if wrong:
            raise SetupError(f"could not download {', '.join(wrong)}\n{problem}")
        return [self.archives / package.file for package in closure]


class _Progress:
    """Says every few seconds how much of a download has arrived."""

    def __init__(self, folder: Path, before: int, total: int, every: float = 5.0):
        self._folder, self._before, self._total, self._every = folder, before, total, every
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _arrived(self) -> int:
        size = 0
        for path in self._folder.rglob("*"):
            try:
                size += path.stat().st_size if path.is_file() else 0
            except FileNotFoundError:
                continue  # apt moved it from partial/ meanwhile
        return max(0, size - self._before)

    def _watch(self) -> None:
        start = time.monotonic()
        while not self._done.wait(self._every):
            arrived = min(self._arrived(), self._total)
            rate = arrived / (time.monotonic() - start)
            say(f"  {arrived / 1e6:.0f} of {self._total / 1e6:.0f} MB ({rate / 1e6:.1f} MB/s)")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
