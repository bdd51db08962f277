# SPDX-License-Identifier: Apache-2.0
"""Every core has a toolchain; its output depends on its inputs only, and all are declared."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

_FOLDER = Path("tools/toolchains/tests")
_READELF = "../arm_gnu_toolchain/bin/arm-none-eabi-readelf"
_GCC = Path("../host_gcc/bin/gcc")

# Core: architecture, floats in registers or not, vector extension, class of kernels.
_CORES = {
    "cortex-m0": ("v6S-M", False, None, "thumb1"),
    "cortex-m0plus": ("v6S-M", False, None, "thumb1"),
    "cortex-m1": ("v6S-M", False, None, "thumb1"),
    "cortex-m3": ("v7", False, None, "scalar"),
    "cortex-m4": ("v7E-M", True, None, "dsp"),
    "cortex-m4+nofp": ("v7E-M", False, None, "dsp"),
    "cortex-m7": ("v7E-M", True, None, "dsp"),
    "cortex-m7+nofp.dp": ("v7E-M", True, None, "dsp"),
    "cortex-m23": ("v8-M.baseline", False, None, "thumb1"),
    "cortex-m33": ("v8-M.mainline", True, None, "dsp"),
    "cortex-m33+nofp": ("v8-M.mainline", False, None, "dsp"),
    "cortex-m33+nofp+nodsp": ("v8-M.mainline", False, None, "scalar"),
    "cortex-m52": ("v8.1-M.mainline", True, "MVE Integer and FP", "mve"),
    "cortex-m55": ("v8.1-M.mainline", True, "MVE Integer and FP", "mve"),
    "cortex-m55+nomve.fp": ("v8.1-M.mainline", True, "MVE Integer only", "mve"),
    "cortex-m55+nomve": ("v8.1-M.mainline", True, None, "dsp"),
    "cortex-m85": ("v8.1-M.mainline", True, "MVE Integer and FP", "mve"),
}

_ABSOLUTE_PATH = re.compile(rb"(?<![\w.<])/(?:[\w.+-]+/)+[\w.+-]+")


def _archives() -> list[Path]:
    return [*(_FOLDER / f"sample_{core}.a" for core in _CORES), _FOLDER / "libsample.a"]


@pytest.mark.parametrize("core", _CORES)
def test_what_it_compiles_for(core: str) -> None:
    archive = _FOLDER / f"sample_{core}.a"
    architecture, float_registers, vectors, isa = _CORES[core]
    done = subprocess.run([_READELF, "-A", archive], capture_output=True, text=True, check=True)
    attributes = dict(re.findall(r"^  Tag_(\w+): (.*)$", done.stdout, re.MULTILINE))
    assert attributes["CPU_arch"] == architecture
    assert attributes["CPU_arch_profile"] == "Microcontroller"
    assert (attributes.get("ABI_VFP_args") == "VFP registers") == float_registers
    assert attributes.get("MVE_arch") == vectors
    assert f"sample_{isa}\0".encode() in archive.read_bytes()


def test_the_host_is_scalar() -> None:
    assert b"sample_scalar\0" in (_FOLDER / "libsample.a").read_bytes()


@pytest.mark.parametrize("flags", [[], ["-shared"], ["-fsanitize=address,undefined"]])
def test_the_host_links_no_file_of_the_machine(flags: list[str], tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    command: list[str | Path] = [
        _GCC,
        *flags,
        "-fPIC",
        "-save-temps=obj",
        "-Wl,--trace",
        tmp_path / "main.c",
    ]
    command += ["-Wl,--no-as-needed", "-lm", "-o", tmp_path / "program"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    linked = done.stdout.splitlines()
    assert any(path.endswith("/libc_nonshared.a") for path in linked)
    root = _GCC.resolve().parents[1]
    ours = (str(root), str((root / "usr").resolve()), str(tmp_path))
    assert [path for path in linked if not path.startswith(ours)] == []


@pytest.mark.parametrize("archive", _archives(), ids=lambda path: path.stem)
def test_neither_time_nor_folders_of_this_machine_show(archive: Path) -> None:
    data = archive.read_bytes()
    assert b"redacted redacted" in data
    found = {path.decode() for path in _ABSOLUTE_PATH.findall(data)}
    # The host's headers are where every host has them.
    assert {path for path in found if not path.startswith("/usr/")} == set()


@pytest.mark.parametrize("archive", _archives(), ids=lambda path: path.stem)
def test_archives_have_no_dates_and_owners(archive: Path) -> None:
    header = archive.read_bytes()[8 : 8 + 60]
    date, owner, group = header[16:28], header[28:34], header[34:40]
    assert [field.strip() for field in (date, owner, group)] == [b"0", b"0", b"0"]


@pytest.mark.parametrize(
    ("target", "repository", "actions"),
    [
        ("program_host", "host_gcc", {"CppCompile", "CppLink"}),
        ("program_host_sanitized", "host_gcc", {"CppCompile", "CppLink"}),
        *((f"sample_{core}", "arm_gnu_toolchain", {"CppCompile", "CppArchive"}) for core in _CORES),
    ],
)
def test_every_action_knows_its_compiler(target: str, repository: str, actions: set[str]) -> None:
    rows = json.loads((_FOLDER / f"{target}.inputs.json").read_text())
    calls = {row["action"]: row["inputs"] for row in rows if row["action"].startswith("Cpp")}
    assert calls.keys() == actions
    identity = f"external/{repository}/identity"
    assert [action for action in calls if identity not in calls[action]] == []


@pytest.mark.parametrize("target", ["program_host", "program_host_sanitized"])
def test_a_program_of_the_host_tells_what_it_was_built_with(target: str) -> None:
    identity = hashlib.sha256(Path("../host_gcc/identity").read_bytes()).hexdigest()
    command = [_READELF, "--notes", str(_FOLDER / target)]
    notes = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"Build ID: (\w+)", notes) == [identity]
