# SPDX-License-Identifier: Apache-2.0
"""The doctor shows every variable, and removes only entries unused by all checkouts."""

import fcntl
from pathlib import Path

import pytest

from tools.doctor import doctor
from tools.doctor.cache import entries, size_of
from tools.doctor.variables import VARIABLES


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a user's cache with tools, the outputs of a checkout, and the outputs of a deleted
    one.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    folder = tmp_path / ".cache/pilotlight"
    for name in ("env-1", "env-2", "gone-1", "python-1", "qemu-1", "disk", "locks"):
        (folder / name / "bin").mkdir(parents=True)
        (folder / name / "bin/tool").write_bytes(b"x" * 5000)
    (folder / "env-1/bin/python3").symlink_to(folder / "python-1/bin/tool")
    (folder / "env-2/pyvenv.cfg").write_text(f"home = {folder}/python-1/bin\n")
    for name, tools in {"there": ["env-1", "qemu-1"], "away": ["gone-1"]}.items():
        base = tmp_path / ".cache/bazel/_bazel_me" / name
        for tool in tools:
            (base / "external" / tool).mkdir(parents=True)
            (base / "external" / tool / "it").symlink_to(folder / tool)
        (base / "DO_NOT_BUILD_HERE").write_text(f"{tmp_path}/{name}\n")
    (tmp_path / "there").mkdir()
    return folder


def _names(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()}


def test_entries_name_the_checkout_that_needs_them(cache: Path) -> None:
    kept = {entry.path.name: entry.kept for entry in entries(cache)}
    checkout = str(cache.parents[1] / "there")
    assert {name for name, why in kept.items() if why == checkout} == {
        "env-1",
        "python-1",
        "qemu-1",
    }
    assert {name for name, why in kept.items() if not why} == {"env-2", "gone-1"}


def test_listing_removes_nothing(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _names(cache)
    assert doctor.main(["--clean"]) == 0
    assert _names(cache) == before
    assert "No checkout needs 2 of these, 0.0 MB. Nothing was removed" in capsys.readouterr().out


@pytest.mark.parametrize("answer, removes", [("y", True), ("", False), ("n", False)])
def test_it_asks(cache: Path, answer: str, removes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _names(cache)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert doctor.main(["--clean"]) == 0
    assert _names(cache) == (before - {"env-2", "gone-1"} if removes else before)


def test_yes_removes_without_asking(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _names(cache)
    assert doctor.main(["--clean", "--yes"]) == 0
    assert _names(cache) == before - {"env-2", "gone-1"}
    assert doctor.main(["--clean", "--yes"]) == 0
    assert "there is nothing to remove" in capsys.readouterr().out


def test_what_is_being_set_up_stays(cache: Path) -> None:
    (cache / "new-1.work").mkdir()
    with (cache / "locks/new-1").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        doctor.main(["--clean", "--yes"])
        assert (cache / "new-1.work").is_dir()
    doctor.main(["--clean", "--yes"])
    assert not (cache / "new-1.work").exists()


def test_hard_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert 100_000 <= size_of(tmp_path) < 150_000


def test_it_shows_variables(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PILOTLIGHT_QEMU", "/opt/qemu")
    monkeypatch.setenv("PILOTLIGHT_QUEMU", "/opt/qemu")
    assert doctor.main([]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in VARIABLES)
    assert f"{'PILOTLIGHT_QEMU':29} /opt/qemu\n" in text
    assert "PILOTLIGHT_QUEMU              UNKNOWN" in text
    assert str(cache) in text


def test_yes_needs_clean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        doctor.main(["--yes"])
    assert "--yes goes with --clean" in capsys.readouterr().err
