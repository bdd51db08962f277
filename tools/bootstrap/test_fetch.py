# SPDX-License-Identifier: Apache-2.0
"""Sets up a tool from a made-up archive: apt-get and dpkg-deb are fakes on PATH."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bootstrap.prefix import LIBRARIES, LOADER, fetch, prune, wrap_programs
from tools.bootstrap.report import SetupError
from tools.bootstrap.sources import MIRROR_VARIABLE, Mirror

APT_GET = """\
#!{python}
import json, os, re, sys
from pathlib import Path
world = Path("{world}")
config = Path(os.environ["APT_CONFIG"]).read_text()
sources = Path(re.search(r'sourcelist "(.*)"', config)[1]).read_text()
archives = Path(re.search(r'archives "(.*)"', config)[1])
with (world / "log").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if "dead.example" in sources:
    print("E: Failed to fetch http://dead.example", file=sys.stderr)
    sys.exit(100)
if "--print-uris" in sys.argv:
    for file in json.loads((world / "index.json").read_text()):
        print("'http://x/%(name)s' %(name)s %(size)s SHA256:%(sha)s" % file)
if "--download-only" in sys.argv:
    broken = int((world / "broken").read_text())
    (world / "broken").write_text(str(max(0, broken - 1)))
    for file in json.loads((world / "index.json").read_text()):
        data = (world / file["name"]).read_bytes()
        if not (archives / file["name"]).exists():
            (archives / file["name"]).write_bytes(data[::-1] if broken else data)
"""

DPKG_DEB = """\
#!/bin/sh
mkdir -p "$3/usr" && cp "$2" "$3/usr/"
"""


class World:
    """A machine with one package archive."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder = folder / "world"
        programs = folder / "bin"
        for created in (self.folder, programs):
            created.mkdir()
        for name, text in {
            "apt-get": APT_GET.format(python=sys.executable, world=self.folder),
            "apt-config": "#!/bin/sh\necho 'Acquire::http::Proxy \"http://proxy.example\";'\n",
            "dpkg-deb": DPKG_DEB,
        }.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.set_broken(0)
        index = []
        for name in ("tool_1.0_amd64.deb", "library_2%3a2.0-1_all.deb"):
            data = name.encode() * 100
            (self.folder / name).write_bytes(data)
            sha = hashlib.sha256(data).hexdigest()
            index.append({"name": name, "size": len(data), "sha": sha})
        (self.folder / "index.json").write_text(json.dumps(index))
        keyring = folder / "keyring.gpg"
        keyring.touch()
        self.mirrors = [Mirror("http://live.example/debian", keyring)]
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        monkeypatch.setattr("tools.bootstrap.prefix.machine_mirrors", lambda: self.mirrors)
        self.work, self.result = folder / "work", folder / "result"
        self.work.mkdir()
        self.result.mkdir()

    def set_broken(self, downloads: int) -> None:
        """The next so many downloads arrive damaged."""
        (self.folder / "broken").write_text(str(downloads))

    def calls(self, what: str) -> int:
        log = self.folder / "log"
        return sum(what in line for line in log.read_text().splitlines())

    def fetch(self) -> dict[str, str]:
        return fetch(self.work, self.result, "trixie", ["tool"], ["perl"])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    return World(tmp_path, monkeypatch)


def test_fetches_and_records(world: World) -> None:
    assert world.fetch() == {"tool": "1.0", "library": "2:2.0-1"}
    assert (world.result / "usr/tool_1.0_amd64.deb").exists()
    assert json.loads((world.result / "packages.json").read_text())["suite"] == "trixie"
    config = (world.work / "apt.conf").read_text()
    assert "proxy.example" in config
    assert "Package: perl\n" in (world.work / "status").read_text()


def test_broken_download_is_retried(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.set_broken(2)
    world.fetch()
    assert world.calls("--download-only") == 3
    assert "2 of 2 packages are incomplete, trying again" in capsys.readouterr().err
    unpacked = (world.result / "usr/tool_1.0_amd64.deb").read_bytes()
    assert unpacked == (world.folder / "tool_1.0_amd64.deb").read_bytes()


def test_download_that_stays_broken_is_an_error(world: World) -> None:
    world.set_broken(99)
    with pytest.raises(SetupError, match=r"could not download .*tool_1\.0_amd64\.deb"):
        world.fetch()
    assert list(world.result.iterdir()) == []


def test_whole_downloads_are_kept(world: World) -> None:
    world.fetch()
    damaged = world.work / "archives/tool_1.0_amd64.deb"
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    kept = world.work / "archives/library_2%3a2.0-1_all.deb"
    before = kept.stat().st_mtime_ns
    world.fetch()
    assert world.calls("--download-only") == 2
    assert kept.stat().st_mtime_ns == before
    world.fetch()
    assert world.calls("--download-only") == 2


def test_next_mirror_is_tried(world: World) -> None:
    live = world.mirrors[0]
    world.mirrors.insert(0, Mirror("http://dead.example/debian", live.keyring))
    assert world.fetch()["tool"] == "1.0"


def test_no_mirror_works(world: World) -> None:
    world.mirrors = [Mirror("http://dead.example/debian", world.mirrors[0].keyring)]
    with pytest.raises(
        SetupError, match=r"dead\.example/debian: reading the index .*\n.*E: Failed"
    ):
        world.fetch()


def test_not_debian(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SetupError, match="has no apt-get"):
        world.fetch()


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
