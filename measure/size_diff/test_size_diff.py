# SPDX-License-Identifier: Apache-2.0
"""Differences between images: their list, failures and display."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from measure.size_diff import size_diff
from measure.size_diff.compare import as_markdown, as_page, as_text, differences
from measure.size_diff.images import (
    Images,
    changes,
    label,
    sizes,
    too_much,
    unlisted,
    verdict,
)

Fields = dict[str, Any]

BEFORE: Fields = {
    "name": "app",
    "board": {"name": "rig"},
    "memories": [{"name": "rom", "kind": "flash", "size": 4096, "used": 1000}],
    "stack": {"size": 512, "bound": 200, "path": []},
    "symbols": [
        {"name": "run", "bytes": 600, "origin": "kernels/conv2d", "kind": "kernels"},
        {"name": "main", "bytes": 400, "origin": "app", "kind": "program"},
    ],
    "instructions": 5000,
    "models": [
        {
            "name": "net",
            "arena": {"bytes": 64},
            "steps": [{"id": "0", "op": "pl::conv2d", "module": "a", "instructions": 4000}],
            "ops": [{"name": "conv", "op": "pl.conv2d", "runs_on": "cortex_m", "function": "run"}],
            "quality": {
                "accuracy": {"int8": 0.9},
                "outputs": [{"name": "out", "sqnr_db": 30.0}],
            },
        }
    ],
}


def changed() -> Fields:
    after = copy.deepcopy(BEFORE)
    after["memories"][0]["used"] = 1100
    after["symbols"][0]["bytes"] = 700
    after["instructions"] = 4500
    model = after["models"][0]
    model["steps"][0]["instructions"] = 3500
    model["ops"][0]["runs_on"] = "ethos_u"
    model["quality"]["outputs"][0]["sqnr_db"] = 31.5
    model["quality"]["accuracy"]["int8"] = 0.875
    return after


def test_what_changed_is_listed_and_nothing_else() -> None:
    found = differences(BEFORE, changed())
    assert found == {
        "Memory, bytes": [("rom (flash)", "1,000", "1,100", "+100")],
        "Flash by what it is, bytes": [("kernels", "600", "700", "+100")],
        "Flash by kernel, bytes": [("kernels/conv2d", "600", "700", "+100")],
        "Flash by symbol, bytes": [("run (kernels/conv2d)", "600", "700", "+100")],
        "Instructions": [
            ("0 pl::conv2d a", "4,000", "3,500", "-500"),
            ("one inference", "5,000", "4,500", "-500"),
        ],
        "Quality": [
            ("net: right when quantized, %", "90.00", "87.50", "-2.50"),
            ("net: SQNR of out", "30.0 dB", "31.5 dB", "+1.5 dB"),
        ],
        "Ops that became something else": [
            ("net: conv", "pl.conv2d on cortex_m run", "pl.conv2d on ethos_u run", "")
        ],
    }


def _symbols(*rows: tuple[str, int]) -> Fields:
    report = copy.deepcopy(BEFORE)
    report["symbols"] = [{"name": n, "bytes": b, "origin": "net", "kind": "x"} for n, b in rows]
    return report


def test_renumbered_names_are_no_difference() -> None:
    before = _symbols(("net_constant_0", 40), ("net_constant_1", 8), ("run_s8", 12), ("one", 4))
    after = _symbols(
        *(("net_constant_0", 96), ("net_constant_1", 40), ("net_constant_2", 8)),
        *(("run_s16", 12), ("one", 4)),
    )
    assert differences(before, after)["Flash by symbol, bytes"] == [
        ("net_constant_0 (net)", "-", "96", "+96"),
        ("run_s16 (net)", "-", "12", "+12"),
        ("run_s8 (net)", "12", "-", "-12"),
    ]
    steps = copy.deepcopy(BEFORE)
    steps["models"][0]["steps"][0]["id"] = "1"
    steps["models"][0]["ops"][0]["name"] = "conv_1"
    first = copy.deepcopy(BEFORE)
    first["models"][0]["ops"][0]["name"] = "conv_0"
    assert differences(first, steps) == {}


def test_it_is_shown_in_three_ways() -> None:
    for show in (as_text, as_markdown, as_page):
        text = show(BEFORE, changed())
        assert "app on rig" in text and "kernels/conv2d" in text and "+100" in text
        assert "o difference" in show(BEFORE, BEFORE)
    assert "&lt;b&gt;" in as_page({**BEFORE, "name": "<b>"}, BEFORE)


def test_symbols_of_a_workspaces_root_have_no_origin() -> None:
    rows = [{"name": "weights", "bytes": n, "origin": "", "kind": "weights"} for n in (90, 70)]
    before, after = ({**BEFORE, "symbols": [row]} for row in rows)
    assert "\n  weights " in as_text(before, after)
    assert "()" not in as_text(before, after)


def test_small_differences_are_one_row() -> None:
    after = copy.deepcopy(BEFORE)
    after["symbols"] += [
        {"name": f"s{i}", "bytes": 100 - i, "origin": "app", "kind": "program"} for i in range(20)
    ]
    rows = differences(BEFORE, after)["Flash by symbol, bytes"]
    assert len(rows) == 16 and rows[0][0] == "s0 (app)"
    assert rows[-1][0] == "5 more" and rows[-1][3] == f"+{sum(range(81, 86))}"


@pytest.mark.parametrize(
    ("key", "value", "fails"),
    [
        ("rom", 10_100, False),
        ("rom", 10_101, True),
        ("rom", 9_000, False),
        ("small", 132, False),
        ("small", 133, True),
        ("rom: kernels/conv2d", 9_999, False),
        ("instructions", 1_010, False),
        ("instructions", 1_011, True),
    ],
)
def test_more_than_a_percent_fails(key: str, value: int, fails: bool) -> None:
    before: Images = {
        "app": {"rom": 10_000, "rom: kernels/conv2d": 100, "small": 100, "instructions": 1_000}
    }
    after = {"app": before["app"] | {key: value}}
    assert bool(too_much(before, after)) == fails
    assert [row[1] for row in changes(before, after)] == [key]


@pytest.mark.parametrize("name", ["images", "memory", "nightly"])
def test_the_verdict_says_what_is_more_and_how_it_is_accepted(name: str) -> None:
    before: Images = {"app": {"rom": 10_000}, "other": {"rom": 10_000}}
    text = verdict(name, before, before | {"app": {"rom": 12_000}})
    assert "app: rom 10,000 -> 12,000" in text and "other" not in text
    assert text.endswith(f"bazel run //measure/size_diff:{name} -- --update")
    assert verdict(name, before, before) == ""


def test_images_in_no_list_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bazel = tmp_path / "bazel"
    bazel.write_text('#!/bin/sh\n[ "$1" = query ] && printf "//b:new\\n//a:app\\n//a:new\\n"\n')
    bazel.chmod(0o755)
    monkeypatch.setenv("BAZEL_REAL", str(bazel))
    assert unlisted(tmp_path, ["//a:app", "//gone:app"]) == ["//a:new", "//b:new"]


def test_images_and_memories_that_come_and_go_fail() -> None:
    before: Images = {"a": {"rom": 1, "instructions": 5}, "b": {"rom": 1}}
    assert too_much(before, {"a": before["a"], "c": {"rom": 1}}) == [
        "b: not in both",
        "c: not in both",
    ]
    assert too_much({"a": before["a"]}, {"a": {"rom": 1}}) == [
        "a: instructions is not measured any more"
    ]


def test_sizes_are_those_of_size_json() -> None:
    memories = [
        {"name": "rom", "used": 7, "by_origin": {"app": 5}},
        {"name": "ram", "used": 0, "by_origin": {}},
    ]
    assert sizes({"memories": memories}) == {"rom": 7, "rom: app": 5}


def test_images_go_by_their_labels() -> None:
    assert label("tests/names/my-app.v2.size.json") == "//tests/names:my-app.v2"
    assert label("boards/microbit_app.elf") == "//boards:microbit_app"


# Stand-in for Bazel: its report has its build folder, and the files next to the repository.
_BAZEL = """\
#!/bin/sh
case $1 in
build) test $2 = //:net.report.json && echo '{"ops": []}' > made.json && exit
    printf '{"advice": {}, "here": "%s", "text": "%s", "beside": "%s"}' \
    "$PWD" "$(cat net.txt)" "$(cat ../../beside.txt)" > made.json ;;
cquery) echo made.json ;;
info) echo "$PWD" ;;
esac
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace in a folder of a repository with two commits, and a file next to it."""
    program = tmp_path / "bazel"
    program.write_text(_BAZEL)
    program.chmod(0o755)
    monkeypatch.setattr(size_diff, "bazel_program", lambda root: str(program))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "test")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "test")
    folder = tmp_path / "repository/device"
    folder.mkdir(parents=True)
    (tmp_path / "beside.txt").write_text("beside")
    subprocess.run(["git", "init", "--quiet", folder.parent], check=True)
    for text in ("before", "after"):
        (folder / "net.txt").write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        subprocess.run(["git", "commit", "--quiet", "-m", text], cwd=folder, check=True)
    return folder


def test_a_model_is_no_image(workspace: Path) -> None:
    with pytest.raises(size_diff.DiffError, match=r"^//:net is not an image: give the label"):
        size_diff.built_report(workspace, "//:net")


def test_a_commit_is_built_beside_the_repository(workspace: Path) -> None:
    before = size_diff.report_of_commit(workspace, "HEAD~1", "//:app")
    assert (before["text"], before["beside"]) == ("before", "beside")
    assert before["here"] != str(workspace) and before["here"].endswith("/device")
    assert size_diff.built_report(workspace, "//:app")["text"] == "after"
    # Nothing of it is left.
    repository = workspace.parent
    assert {path.name for path in repository.parent.iterdir()} == {
        "bazel",
        "beside.txt",
        repository.name,
    }
    listed = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no report of an image"),
        ("[1]", "no report of an image"),
        ('{"format": 2}', "no report of an image"),
        ('{"format": 1, "advice": {}}', "a report of format 1"),
    ],
)
def test_a_file_that_is_no_report_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "kept.json"
    file.write_text(text)
    with pytest.raises(size_diff.DiffError, match=rf"{says}.*bazel build //a:b.report.json"):
        size_diff.kept_report(file, "//a:b")


@pytest.mark.parametrize("base", ["gone.json", "nobodys-branch"])
def test_a_base_that_is_nothing_is_an_error(workspace: Path, base: str) -> None:
    with pytest.raises(size_diff.DiffError, match=f"--base={base} is neither a file nor a commit"):
        size_diff.report_of_commit(workspace, base, "//:app")
