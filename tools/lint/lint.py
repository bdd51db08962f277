# SPDX-License-Identifier: Apache-2.0
"""Runner of one lint tool, or of all tools with a repair mode, over the source tree.

bazel run //tools/lint:fix
"""

from tools.text.signal_handling import run_main

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app, flags, logging

from tools.lint.workspace import source_files, workspace_root

_CHECK = flags.DEFINE_string("check", None, "Check to run; without it all are run with --fix.")
_FIX = flags.DEFINE_bool("fix", False, "Repair instead of report.")
_TOOL = flags.DEFINE_multi_string("tool", [], "Path of a program that a check needs.")
_SYSTEM_HEADER = flags.DEFINE_string("system_header", "", "A header of the device's C library.")
_IRQS_HEADER = flags.DEFINE_string("irqs_header", "", "boards/irqs.h of the board with most in it.")

_PYTHON = ("*.py",)
_C = ("*.c", "*.cc", "*.h")
_DEVICE_C = ("kernels/*.c", "firmware/*.c", "npu/*.c", "boards/*.c", "tests/ethos_u/*.c")
_FOR_THE_HOST = ("kernels/testing/touched/*", "tools/simulator/*")
_WRONG_ON_PURPOSE = ("boards/tests/programs/*",)
# Sources with generated headers or headers of downloaded libraries.
_WITH_HEADERS_OF_A_BUILD = (
    "firmware/slot/signature.c",
    "firmware/slot/testing/*",
    "measure/ethos_u/models/*",
)
_OTHER_WORKSPACE = ("examples/outside/*",)
_STARLARK = ("*.bzl", "*BUILD.bazel", "*.BUILD", "*MODULE.bazel", "*WORKSPACE")

# Symbols to load from rules_cc in versions later than Bazel 7's only.
_BUILDIFIER_WARNINGS = (
    "-warnings=-native-cc-common,-native-cc-debug-package-info,-native-cc-info,"
    "-native-cc-shared-library-hint-info,-native-cc-shared-library-info,"
    "-native-cc-toolchain-config-info"
)

# Device sources are analysed for the richest core, with all its macros.
_DEVICE_FLAGS = (
    "--target=arm-none-eabi",
    "-mthumb",
    "-mcpu=cortex-m55",
    "-mfloat-abi=hard",
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    # A tenth of the default number of paths per function, because nested loops have unlimited
    # paths. For 935 leaks, one at the end of each function, it finds as many as 75,000 does.
    *("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000"),
)


@dataclass(frozen=True)
class Check:
    """A lint tool: `program`, `report` (or `fix`, where it can repair), then the files."""

    program: str
    files: tuple[str, ...]
    report: tuple[str, ...]
    fix: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


CHECKS = {
    "buildifier": Check(
        "buildifier",
        _STARLARK,
        ("-mode=diff", "-lint=warn", _BUILDIFIER_WARNINGS),
        ("-mode=fix", "-lint=fix", _BUILDIFIER_WARNINGS),
    ),
    "clang_format": Check("clang-format", _C, ("--dry-run", "--Werror"), ("-i",)),
    "clang_tidy": Check(
        "clang-tidy",
        _DEVICE_C,
        ("--quiet",),
        exclude=_WRONG_ON_PURPOSE + _FOR_THE_HOST + _WITH_HEADERS_OF_A_BUILD,
    ),
    "mypy": Check("mypy", _PYTHON, ("--cache-dir=/dev/null",), exclude=_OTHER_WORKSPACE),
    "ruff": Check("ruff", _PYTHON, ("check", "--no-cache"), ("check", "--no-cache", "--fix")),
    "ruff_format": Check(
        "ruff", _PYTHON, ("format", "--no-cache", "--diff"), ("format", "--no-cache")
    ),
}


def _run(name: str, tools: dict[str, Path], root: Path, fix: bool) -> bool:
    """Run a check and return True if it found nothing."""
    check = CHECKS[name]
    options: Sequence[str] = check.fix if fix and check.fix else check.report
    files = source_files(root, check.files, check.exclude)
    if not files:
        logging.error("%s: no file matches %s in %s", name, " ".join(check.files), root)
        return False
    command = [str(tools[check.program]), *options, *files]
    if name == "clang_tidy":
        libc = Path(_SYSTEM_HEADER.value).resolve().parent
        made = Path(_IRQS_HEADER.value).resolve().parent.parent
        command += ["--", *_DEVICE_FLAGS, "-isystem", str(libc), "-I.", f"-I{made}"]
        command += [f"-I{made.parent.parent}", "-Ifirmware/neutron/interface"]
    status = subprocess.run(command, cwd=root).returncode
    print(f"{name}: {len(files)} files, {'clean' if status == 0 else 'see above'}", flush=True)
    return status == 0


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = workspace_root()
    tools = {Path(path).name: Path(path).absolute() for path in _TOOL.value}
    if _CHECK.value:
        names = [_CHECK.value]
    else:
        names = [name for name, check in CHECKS.items() if check.fix]
    results = [_run(name, tools, root, _FIX.value) for name in names]
    if not all(results):
        print("repair what can be repaired: tools/bazel run //tools/lint:fix", flush=True)
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
