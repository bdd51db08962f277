# SPDX-License-Identifier: Apache-2.0
"""Set up a tool from a made-up archive: a mirror and an archive of snapshots on 127.0.0.1."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.bootstrap import archive, download, lock
from tools.bootstrap.archive import Archive
from tools.bootstrap.lock import Request, write_lock
from tools.bootstrap.made_up_archive import KEYS, publish, served
from tools.bootstrap.prefix import LIBRARIES, LOADER, fetch, prune, wrap_programs
from tools.bootstrap.report import SetupError
from tools.bootstrap.sources import MIRROR_VARIABLE

PACKAGES = {
    "tool": (
        "Version: 1.0\nDepends: library",
        {
            "usr/bin/tool": "tool",
            "bin/link": "-> /usr/bin/tool",
            "usr/bin/same": "=> ./usr/bin/tool",
        },
    ),
    "library": ("Version: 2:2.0-1", {"lib/x/library.so": "library", "lib64/a": "-> ../x"}),
    "base": ("Version: 1", {"lib": "-> usr/lib", "etc/base": "base"}),
}
DATE = "20261129T081755Z"


class World:
    """A mirror, an archive of snapshots, and a lock file with all of PACKAGES."""

    def __init__(self, folder: Path, address: str, monkeypatch: pytest.MonkeyPatch):
        self.mirror, self.snapshot = folder / "mirror", folder / "snapshots" / DATE
        publish(self.mirror, PACKAGES)
        monkeypatch.setenv(MIRROR_VARIABLE, f"{address}/mirror")
        monkeypatch.setattr(download, "SNAPSHOTS", f"{address}/snapshots")
        monkeypatch.setattr(download, "ATTEMPTS", 1)
        monkeypatch.setattr(archive, "read_keys", lambda: KEYS)
        monkeypatch.setattr(lock, "LOCK", folder / "lock.json")
        request = Request.of("trixie", ["tool", "base"], ["perl"])
        write_lock({request: Archive(self.mirror.as_uri(), "trixie").resolve(request)})
        self.work, self.result = folder / "work", folder / "result"
        self.result.mkdir()

    def move_on(self) -> None:
        """Simulate the day with newer packages in the suite; snapshots have today's."""
        shutil.copytree(self.mirror, self.snapshot)
        newer = {name: (f"{fields}.1", files) for name, (fields, files) in PACKAGES.items()}
        shutil.rmtree(self.mirror)
        publish(self.mirror, {f"{name}2": package for name, package in newer.items()})

    def fetch(self) -> dict[str, str]:
        return fetch(self.work, self.result, "trixie", ["base", "tool"], ["perl"])

    def damage(self, folder: Path) -> None:
        """Flip bits of one package."""
        file = folder / "pool/tool_x_amd64.deb"
        file.write_bytes(file.read_bytes()[::-1])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with served(tmp_path) as address:
        yield World(tmp_path, address, monkeypatch)


def test_fetches_and_records(world: World) -> None:
    assert world.fetch() == {"tool": "1.0", "library": "2:2.0-1", "base": "1"}
    tool = world.result / "usr/bin/tool"
    assert (tool.read_text(), tool.stat().st_mode & 0o777) == ("tool", 0o755)
    assert (world.result / "usr/bin/same").samefile(tool)
    assert os.readlink(world.result / "usr/bin/link") == "tool"
    assert json.loads((world.result / "packages.json").read_text())["suite"] == "trixie"


def test_all_lies_below_usr(world: World) -> None:
    world.fetch()
    assert (world.result / "usr/lib/x/library.so").read_text() == "library"
    assert os.readlink(world.result / "usr/lib64/a") == "../x"
    assert {name: os.readlink(world.result / name) for name in ("bin", "lib", "lib64")} == {
        "bin": "usr/bin",
        "lib": "usr/lib",
        "lib64": "usr/lib64",
    }


def test_the_suite_has_moved_on(world: World) -> None:
    world.move_on()
    assert world.fetch()["tool"] == "1.0"
    assert (world.result / "usr/bin/tool").read_text() == "tool"


def test_machine_without_a_mirror(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.move_on()
    monkeypatch.delenv(MIRROR_VARIABLE)
    monkeypatch.setattr(download, "machine_mirrors", list)
    assert world.fetch()["tool"] == "1.0"


def test_mirror_that_does_not_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.move_on()
    monkeypatch.setenv(MIRROR_VARIABLE, "http://127.0.0.1:9/debian")
    assert world.fetch()["tool"] == "1.0"


def test_gone_everywhere(world: World) -> None:
    shutil.rmtree(world.mirror)
    with pytest.raises(SetupError, match=r"(?s)cannot download .*_amd64\.deb:.*404.*404"):
        world.fetch()


def test_damaged_package_is_refused(world: World) -> None:
    whole = (world.mirror / "pool/tool_x_amd64.deb").read_bytes()
    world.damage(world.mirror)
    with pytest.raises(SetupError, match=r"pool/tool_x_amd64\.deb has the wrong checksum"):
        world.fetch()
    assert not (world.result / "usr/bin/tool").exists()
    (world.mirror / "pool/tool_x_amd64.deb").write_bytes(whole)
    kept = world.work / "archives/library_2%3a2.0-1_amd64.deb"
    before = kept.stat().st_mtime_ns
    world.fetch()
    assert kept.stat().st_mtime_ns == before


def test_damaged_package_of_a_mirror_comes_from_the_snapshot(world: World) -> None:
    shutil.copytree(world.mirror, world.snapshot)
    world.damage(world.mirror)
    assert world.fetch()["tool"] == "1.0"


def test_damaged_package_in_the_cache_is_fetched_again(world: World) -> None:
    world.fetch()
    cached = world.work / "archives/tool_1.0_amd64.deb"
    cached.write_bytes(b"x" * cached.stat().st_size)
    shutil.rmtree(world.result)
    world.result.mkdir()
    world.fetch()
    assert (world.result / "usr/bin/tool").read_text() == "tool"


def test_request_that_is_not_locked(world: World) -> None:
    command = r"update_lock --suite=trixie --without=perl new tool"
    with pytest.raises(SetupError, match=f"lock.json lacks tool new of Debian trixie: .*{command}"):
        fetch(world.work, world.result, "trixie", ["tool", "new"], ["perl"])


def test_prune_keeps_what_is_named(tmp_path: Path) -> None:
    for name in ("usr/bin/tool", "usr/share/doc/tool/copyright", "usr/lib/a/b.so.1", "etc/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "usr/lib/dangling.so").symlink_to("/nowhere")
    prune(tmp_path, ["usr/bin/tool", "usr/lib/*.so*"])
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    folders = {"usr", "usr/bin", "usr/lib", "usr/lib/a"}
    assert left == folders | {"usr/bin/tool", "usr/lib/a/b.so.1", "usr/lib/dangling.so"}


def test_wrapped_program_runs_from_anywhere(tmp_path: Path) -> None:
    result = tmp_path / "result"
    (result / LIBRARIES).mkdir(parents=True)
    (result / "usr/bin").mkdir()
    for library in ("libc.so.6", LOADER.name):
        shutil.copy(f"/{LIBRARIES}/{library}", result / LIBRARIES)
    shutil.copy("/bin/echo", result / "usr/bin/say")
    assert wrap_programs(result) == 1
    moved = tmp_path / "some where else"
    result.rename(moved)
    link = tmp_path / "link"
    link.symlink_to(moved / "usr/bin/say")
    done = subprocess.run([link, "it's", "a  b"], capture_output=True, text=True, check=True)
    assert done.stdout == "it's a  b\n"
    shown = subprocess.run([link, "--version"], capture_output=True, text=True, check=True)
    assert "echo" in shown.stdout
