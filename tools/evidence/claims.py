# SPDX-License-Identifier: Apache-2.0
"""Claims about every image, each with its tests and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Claim:
    """A requirement.

    Attributes:
        text: the requirement.
        kind: `proved` for all inputs; `bounded` from above by an analysis; `tested` on some.
        page: the design, relative to the repository's root.
        tests: labels without `//`.
        limits: assumptions, and cases outside the claim.
        nightly: true if `bazel test //...` leaves the tests out.
    """

    text: str
    kind: Literal["proved", "bounded", "tested"]
    page: str
    tests: tuple[str, ...]
    limits: str
    nightly: bool = False


CLAIMS = (
    Claim(
        "Boards and the Python reference give the same bits.",
        "tested",
        "docs/how_it_works.md",
        ("tests/field_faults:table_test.host", "tests/field_faults:table_test.corstone300"),
        "Inputs of the tests, on emulated boards.",
    ),
    Claim(
        "Values are within one step of torchao's quantized graph.",
        "tested",
        "docs/quality.md",
        ("tests/ops:test_lowering",),
        "Rates and exceptions of each op are in the test.",
    ),
    Claim(
        "Wrong results that other stacks shipped in 2026 do not occur.",
        "tested",
        "docs/evidence.md",
        ("tests/field_faults:test_field_faults",),
        "Eleven classes, with the cases of the table.",
    ),
    Claim(
        "Requantization equals its specification for all sums of a channel.",
        "proved",
        "docs/proofs.md",
        (
            "tests/proofs:test_requantize.microbit",
            "tests/proofs:test_requantize.mps2_an385",
            "tests/proofs:test_requantize.mps2_an386",
            "tests/proofs:test_taps",
            "tests/proofs:test_lemmas",
        ),
        "Networks, layers and cores of the page; the same C as kernels inline, compiled apart.",
        nightly=True,
    ),
    Claim(
        "The stack does not overflow.",
        "bounded",
        "docs/memory.md",
        ("boards/tests:test_programs.corstone300", "tools/image:test_handlers"),
        "Recursion through pointers is counted once.",
    ),
    Claim(
        "No two values of a plan that live at the same time share memory.",
        "tested",
        "aot/plan/README.md",
        ("aot/plan:test_planner", "aot/plan:test_plan"),
        "The plan compiler checks each plan.",
    ),
    Claim(
        "A damaged .pte is refused.",
        "tested",
        "aot/pte/README.md",
        ("aot/plan:test_plan", "aot/pte:tests"),
        "Damages of the tests.",
    ),
    Claim(
        "A simulation passes only if the program ended with PL:PASS and status 0.",
        "tested",
        "boards/README.md",
        ("boards/tests:test_host", "tests/field_faults:test_field_faults"),
        "QEMU and the host.",
    ),
)

LIMITS = (
    "QEMU counts instructions. Cycle figures are estimates, and no bound on time is claimed.",
    "Boards without a simulator are untested on hardware.",
    "NPU programs run on functional models before they ship; silicon is not tested.",
    "A bit-exact image is as accurate as its int8 model: see the report's quality figures.",
    "Interrupt handlers and code of the application are outside all claims but the stack's bound.",
)
