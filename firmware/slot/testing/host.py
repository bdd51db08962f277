# SPDX-License-Identifier: Apache-2.0
"""Packages of a sample model for the host, and the program that tests them there."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware.plan import emit_c
from firmware.plan.plan import Plan
from firmware.plan.pte import read_program
from firmware.plan.report import plan_json
from firmware.plan.testing import Network, export_pte, sample_board
from firmware.slot import kernel_table
from firmware.slot.object_file import read_object
from firmware.slot.package import HEADER, Arrays, make_package, private_key, public_key
from firmware.slot.planning import NAME, package_board, package_plan

TEST_KEY = Path("firmware/slot/testing/test_key.pem")
MEMORY = 8192
SLOT_BYTES = 24576

_SLOT = (
    "bounds",
    "calls",
    "flash_ram",
    "marks",
    "package",
    "self_test",
    "sha512",
    "signature",
    "slot",
)
_RUNTIME = (
    *(f"firmware/slot/{name}.c" for name in (*_SLOT, "status")),
    "firmware/runtime/executor.c",
    "firmware/runtime/model.c",
    "firmware/runtime/states.c",
)
_OPTIONS = ("-std=c11", "-w", "-O1", "-fdata-sections", "-ffunction-sections", "-fno-pic")
_SANITIZED = ("-g", "-fsanitize=address", "-fno-omit-frame-pointer")


def sample_plan() -> Plan:
    """Of a convolution, a depthwise one, a sum, a pool and a product."""
    network = Network()
    program = read_program(export_pte(network, [network.example()]))
    return package_plan(program, package_board(sample_board(), MEMORY))


def sample_vectors(count: int = 2) -> Arrays:
    """Inputs, and what the model's reference makes of them."""
    network = Network().eval()
    inputs = [network.example(seed) for seed in range(count)]
    outputs = [network(x) for x in inputs]
    return {
        "input_0": np.stack([x.numpy() for x in inputs]),
        "output_0": np.stack([y.numpy() for y in outputs]),
    }


def _monocypher() -> Path:
    """The folder of its source."""
    return Path(os.environ["PILOTLIGHT_MONOCYPHER"])


class Host:
    """Compiles everything once, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = Path.cwd()
        self.plan = sample_plan()
        self.key = private_key(TEST_KEY.read_bytes())
        self.public = public_key(TEST_KEY.read_bytes()).hex()

    def _gcc(self, output: Path, *arguments: str | Path) -> Path:
        includes = (f"-I{self.root}", f"-I{self.folder}", f"-I{_monocypher()}")
        command = [os.environ.get("CC", "gcc"), *_OPTIONS, *includes, *arguments, "-o", output]
        subprocess.run(command, check=True)
        return output

    @cached_property
    def compiled(self) -> bytes:
        """The plan as an object file."""
        source = self.folder / "plan.c"
        header = "firmware/runtime/plan.h"
        source.write_text(emit_c.source(self.plan, NAME, header, packaged=True))
        return self._gcc(self.folder / "plan.o", "-c", source).read_bytes()

    @cached_property
    def functions(self) -> set[str]:
        return {step.kernel.function for step in self.plan.sharing.steps}

    def package(self, version: str, **changes: Any) -> bytes:
        """A package of the sample model; `changes` are other arguments of make_package."""
        arguments: dict[str, Any] = {
            "compiled": read_object(self.compiled),
            "plan": plan_json(self.plan, NAME),
            "core": "host",
            "vectors": sample_vectors(),
            "name": "sample",
            "key": self.key,
            **changes,
        }
        return make_package(**arguments, version=version)

    def signed(self, package: bytes) -> bytes:
        """A package that was changed, with the hash and the signature that it has to have then."""
        contents = hashlib.sha512(package[HEADER:]).digest()
        header = package[: HEADER - 128] + contents
        return header + self.key.sign(header) + package[HEADER:]

    def write(self, name: str, package: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(package)
        return path

    @cached_property
    def _objects(self) -> list[Path]:
        """Runtime and kernels, which all programs have."""
        kernels = [
            path
            for path in sorted(self.root.glob("kernels/*/*.c"))
            if path.parent.name != "testing" and not path.stem.endswith(("_dsp", "_mve", "_test"))
        ]
        sources = [*(self.root / path for path in _RUNTIME), _monocypher() / "monocypher.c"]

        def compiled(job: tuple[int, Path]) -> Path:
            output = self.folder / f"{job[0]}_{job[1].stem}.o"
            return self._gcc(output, *_SANITIZED, "-c", job[1])

        with ThreadPoolExecutor() as pool:
            return list(pool.map(compiled, enumerate([*sources, *kernels])))

    def program(self, functions: Sequence[str], name: str) -> Path:
        """host_main.c, with these kernels."""
        folder = self.folder / name
        folder.mkdir()
        header = "host_kernels.h"
        text = kernel_table.source("host_kernels", header, "host", functions)
        (folder / "host_kernels.c").write_text(text)
        (folder / header).write_text(kernel_table.header("host_kernels"))
        sources = [self.root / "firmware/slot/testing/host_main.c", folder / "host_kernels.c"]
        sizes = (f"-DMEMORY_BYTES={MEMORY}", f"-DSLOT_BYTES={SLOT_BYTES}", f"-I{folder}")
        options = (*_SANITIZED, *sizes, "-no-pie")
        return self._gcc(folder / "program", *options, *sources, *self._objects, "-lm")


def other_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def run(program: Path, *arguments: str | Path) -> str:
    """What a program prints; AssertionError where a sanitizer or a check fails."""
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
