# SPDX-License-Identifier: Apache-2.0
"""Servers for shared caches and remote execution in tests: nginx, and BuildGrid on PostgreSQL."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.pip import run_pip
from tools.bootstrap.prefix import LIBRARIES, fetch, prune, wrap_programs
from tools.bootstrap.report import owned, run
from tools.bootstrap.versions import read_versions

_HERE = Path(__file__).parent

_NGINX = """
daemon off; error_log {folder}/error.log; pid {folder}/pid; {user}
events {{ worker_connections 512; }}
http {{
  access_log off; client_max_body_size 0; client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/cache;
    location / {{ dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""

_BUILDGRID = """
server:
  - !channel
    address: "127.0.0.1:{port}"
    insecure-mode: true
description: test
authorization:
  method: none
monitoring:
  enabled: false
connections:
  - !sql-connection &sql
    connection-string: {database}
storages:
  - !disk-storage &main
    path: {folder}/blobs
caches:
  - !lru-action-cache &ac
    storage: *main
    max-cached-refs: 100000
    allow-updates: true
    cache-failed-actions: false
schedulers:
  - !sql-scheduler &sched
    sql: *sql
    action-cache: *ac
    storage: *main
    # A worker says nothing while an action runs.
    bot-session-keepalive-timeout: 3600
    property-set:
      !dynamic-property-set
      match-property-keys: [OSFamily, ISA]
      wildcard-property-keys: [container-image]
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.1
instances:
  - name: ''
    services:
      - !action-cache
        cache: *ac
      - !execution
        scheduler: *sched
      - !cas
        storage: *main
      - !bytestream
        storage: *main
# Every action that waits takes a thread.
thread-pool-size: 200
limiter: !limiter
  concurrent-request-limit: 180
"""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, port: int = 0, user: str | None = None
) -> Iterator[None]:
    """Run a program inside the `with` block. Wait until it listens at the port, if it has one.

    Raises:
      RuntimeError: the program ended.
    """
    with log.open("w") as output:
        process = subprocess.Popen(
            owned(command), stdout=output, stderr=output, stdin=subprocess.DEVNULL, user=user
        )
        try:
            while port and not _listens(port):
                if process.poll() is not None:
                    raise RuntimeError(f"{command[0]} ended:\n{log.read_text()}")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()
            process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _packages(name: str, packages: Sequence[str], keep: Sequence[str]) -> Path:
    """Return the folder `usr` of Debian packages, in the user's cache."""
    suite = read_versions()["SERVERS_SUITE"]

    def make(work: Path, result: Path) -> None:
        fetch(work, result, suite, packages)
        prune(result, [*keep, f"{LIBRARIES}/*.so*", "packages.json"])
        wrap_programs(result)

    return make_once(f"{name}-{suite}-1", make) / "usr"


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """A cache for Bazel; gives its address."""
    program = _packages("nginx", ["nginx"], ["usr/sbin/nginx"]) / "sbin/nginx"
    (folder / "cache").mkdir(parents=True)
    port = _free_port()
    user = "user root;" if os.getuid() == 0 else ""
    settings = folder / "nginx.conf"
    settings.write_text(_NGINX.format(folder=folder, port=port, user=user))
    command: list[str | Path] = [program, "-p", folder, "-c", settings]
    with running(command, folder / "log", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _postgresql(folder: Path) -> Iterator[int]:
    """Run a temporary database open to all users of this machine; yield its port."""
    keep = ["usr/lib/postgresql/*", "usr/share/postgresql/*", "usr/share/zoneinfo/*"]
    cached = _packages("postgresql", ["postgresql", "tzdata"], keep)
    # PostgreSQL refuses to run as root. Other users cannot read root's cache.
    user = "nobody" if os.getuid() == 0 else None
    programs = cached
    if user:
        programs = folder / "usr"
        shutil.copytree(cached, programs, symlinks=True)
    (initdb,) = programs.glob("lib/postgresql/*/bin/initdb")
    data, port = folder / "data", _free_port()
    data.mkdir()
    if user:
        shutil.chown(data, user)
    options = ["--username=test", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync"]
    subprocess.run([initdb, *options, data], check=True, user=user, stdout=subprocess.DEVNULL)
    arguments: list[str | Path] = ["-D", data, "-p", str(port), "-k", data, "-h", "127.0.0.1", "-F"]
    with running([initdb.with_name("postgres"), *arguments], folder / "log", port, user):
        yield port


def _environment() -> Path:
    """Return a separate Python environment with BuildGrid's programs."""
    lock = _HERE / "requirements.txt"

    def make(_: Path, result: Path) -> None:
        run("making the environment", [sys.executable, "-m", "venv", "--without-pip", result])
        options = ["--no-deps", "--require-hashes", f"--requirement={lock}"]
        run_pip(result / "bin/python3", ["install", *options])

    checksum = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    return make_once(f"buildgrid-{checksum}", make) / "bin"


@contextmanager
def buildgrid(
    folder: Path, workers: int, hide: Sequence[Path], show: dict[Path, Path]
) -> Iterator[str]:
    """Run a server with a cache and workers for actions; yield its address.

    Args:
      folder: a new folder; other users must be able to enter its parent folders.
      workers: number of workers.
      hide: folders that are empty for the workers.
      show: location on the workers, by folder of this machine.
    """
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "database").mkdir()
    programs = _environment()
    with ExitStack() as stack:
        database = stack.enter_context(_postgresql(folder / "database"))
        address = f"postgresql+psycopg2://test@127.0.0.1:{database}/postgres"
        port = _free_port()
        settings = folder / "buildgrid.yml"
        settings.write_text(_BUILDGRID.format(folder=folder, port=port, database=address))
        # The launcher in bin contains the path of the folder it was created in.
        start = "import sys; from buildgrid.server.app.cli import cli; sys.exit(cli())"
        program: list[str | Path] = [programs / "python3", "-c", start]
        run("making the database's tables", [*program, "migrate", "apply", address])
        command: list[str | Path] = [*program, "server", "start", settings]
        stack.enter_context(running(command, folder / "log", port))
        for number in range(workers):
            own = folder / f"worker.{number}"
            command = [programs / "python3", _HERE / "worker.py", f"127.0.0.1:{port}", own]
            command += [f"--hide={one}" for one in hide]
            command += [f"--show={source}={place}" for source, place in show.items()]
            stack.enter_context(running(command, folder / f"worker.{number}.log"))
        yield f"grpc://127.0.0.1:{port}"
