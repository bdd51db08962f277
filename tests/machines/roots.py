# SPDX-License-Identifier: Apache-2.0
"""Root filesystems of other machines, made of locked packages, and commands within them."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap.pip import pip_settings
from tools.bootstrap.prefix import fetch
from tools.bootstrap.sources import MIRROR_VARIABLE, machine_mirrors

# A shell, its usual programs, python3: no compiler, pip, venv, apt, dpkg, gpg, xz, certificates.
PACKAGES = [
    "base-files",
    "bash",
    "coreutils",
    "dash",
    "findutils",
    "grep",
    "hostname",
    "libc-bin",
    "mawk",
    "python3",
    "sed",
    "util-linux",
]

_MARKS = ["etc/debian_version", "etc/dpkg", "usr/share/doc", "var/lib/dpkg"]

# Runs in namespaces of its own: mounts end with it. Single devices only, never all of /dev.
_ENTER = """\
set -eu
ip link set lo up 2>/dev/null || :
root=$1 user=$2
shift 2
mount --make-rprivate /
mount -t proc proc "$root/proc"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -sfn /proc/self/fd "$root/dev/fd"
mkdir -p "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root${2%/*}" && : >"$root$2"; fi
    mount --bind "$1" "$root$2"
    mount -o remount,bind,ro "$root$2"
    shift 2
done
shift
exec chroot --userspec="$user" "$root" "$@"
"""


@dataclass(frozen=True)
class Machine:
    """A root filesystem and one of its users.

    Attributes:
      root: the filesystem.
      user: number of the user, 0 for root; it has no name.
      group: number of its group, 0 for that of the user.
      cache: XDG_CACHE_HOME, "" for none.
    """

    root: Path
    user: int
    group: int = 0
    cache: str = ""

    @property
    def home(self) -> str:
        """Return the user's home, with a letter beyond ASCII."""
        return f"/home/jörg{self.user}" if self.user else "/root"

    def make_home(self) -> None:
        """Make the user's home, which others cannot read."""
        home = self.root / self.home.lstrip("/")
        for path in (home, home / "tmp"):
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o700)
            os.chown(path, self.user, self.group or self.user)

    def bazel(
        self, source: Path, *arguments: str, network: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Run a Bazel command in the checkout `source`, read-only there."""
        script = 'cd /pilotlight && tools/bazel "$@"; status=$?; tools/bazel shutdown; exit $status'
        return self._run(source, network, "/bin/sh", "-c", script, "sh", *arguments)

    def _run(
        self, source: Path, network: bool, *command: str
    ) -> "subprocess.CompletedProcess[str]":
        settings = pip_settings()
        words = " ".join(settings.values()).split()
        # An index of files is next to them.
        paths = {re.sub("^file://(.*)/.*", r"\1", word) for word in words}
        shared = sorted(path for path in paths if path.startswith("/") and Path(path).exists())
        binds = [str(source), "/pilotlight", *(word for path in shared for word in (path, path))]
        for name in ("/etc/resolv.conf", "/etc/hosts"):
            binds += [name, name]
        environment = {
            **{f"PIP_{name.upper().replace('-', '_')}": value for name, value in settings.items()},
            **{
                name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")
            },
            "HOME": self.home,
            "PATH": "/usr/sbin:/usr/bin",
            "TMPDIR": f"{self.home}/tmp",
        }
        if self.cache:
            environment["XDG_CACHE_HOME"] = self.cache
        if mirrors := machine_mirrors():
            environment[MIRROR_VARIABLE] = mirrors[0]
        enter = [
            "unshare",
            "-mpf" if network else "-mpfn",
            "--kill-child",
            "sh",
            "-c",
            _ENTER,
            "sh",
        ]
        ids = f"{self.user}:{self.group or self.user}"
        enter += [str(self.root), ids, *binds, "--", *command]
        return subprocess.run(
            enter, env=environment, capture_output=True, text=True, errors="replace"
        )


def make_machine(folder: Path, suite: str, user: int, debian: bool = True) -> Machine:
    """Fill a folder with a root filesystem.

    Args:
        folder: does not exist yet.
        suite: of Debian, the source of its packages.
        user: number of the user, 0 for root; it has no name.
        debian: keep the files used by programs to detect Debian.
    """
    root = folder / "root"
    root.mkdir(parents=True)
    fetch(folder / "work", root, suite, PACKAGES)
    shutil.rmtree(folder / "work")
    for name in ("dev", "etc", "proc", "root", "tmp", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    if not debian:
        for name in _MARKS:
            path = root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (root / "usr/lib/os-release").write_text('ID=fictional\nNAME="Fictional Linux"\n')
    machine = Machine(root, user)
    machine.make_home()
    return machine
