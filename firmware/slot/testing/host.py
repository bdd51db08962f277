# SPDX-License-Identifier: Apache-2.0
"""Packages of a sample model for the host, and the program that tests them there."""

from __future__ import annotations

import copy
import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aot.plan import emit_c
from aot.plan.plan import Plan
from aot.plan.pte import read_program
from aot.plan.report import plan_json
from aot.plan.testing import Network, export_pte, sample_board
from aot.slot import kernel_table
from aot.slot.object_file import read_object
from aot.slot.package import HEADER, Arrays, make_package, private_key, public_key
from aot.slot.planning import NAME, package_board, package_plan
from kernels.testing.case import Case
from kernels.testing.oracle import arguments_of

TEST_KEY = Path("firmware/slot/testing/test_key.pem")
MODEL = "sample"
MEMORY = 8192
SLOT_BYTES = 24576

_SLOT = (
    "bounds",
    "calls",
    "flash",
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
_SANITIZED = (
    "-g",
    "-fsanitize=address,bounds,shift,signed-integer-overflow",
    "-fno-sanitize-recover=bounds",
    "-fno-omit-frame-pointer",
)


class Wide(torch.nn.Module):
    """A transpose, convolutions of each kind, a sum, a pool and a classifier of int16 values."""

    def __init__(self) -> None:
        super().__init__()
        random = torch.Generator().manual_seed(1)
        for name, shape in (("conv", (4, 3, 3, 2)), ("depthwise", (3, 3, 4)), ("linear", (5, 36))):
            channels = shape[-1] if name == "depthwise" else shape[0]
            weight = torch.randint(-127, 128, shape, generator=random).to(torch.int8)
            bias = torch.randint(-1000, 1000, (channels,), generator=random).to(torch.int32)
            self.register_buffer(f"{name}_weight", weight)
            self.register_buffer(f"{name}_bias", bias)
            self.register_buffer(f"{name}_multiplier", torch.full((channels,), 2**30).int())
            self.register_buffer(f"{name}_shift", torch.full((channels,), -8).int())

    def _constants(self, name: str) -> list[torch.Tensor]:
        parts = ("weight", "bias", "multiplier", "shift")
        return [getattr(self, f"{name}_{part}") for part in parts]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int16 [1, 2, 6, 6] (NCHW) to int16 [1, 5]."""
        ops: Any = torch.ops.pl
        one, pad, ends = [1, 1], [1, 1, 1, 1], (-(2**15), 2**15 - 1)
        x = ops.transpose(x, [0, 2, 3, 1])
        x = ops.conv2d(x, *self._constants("conv"), one, pad, one, 1, 0, 0, *ends)
        y = ops.depthwise_conv2d(x, *self._constants("depthwise"), one, pad, one, 0, 0, *ends)
        x = ops.add(x, y, 0, 2**30, 0, 0, 2**30, 0, 15, 0, 2**30, -13, *ends)
        x = ops.max_pool2d(x, [2, 2], [2, 2], [0, 0, 0, 0], one, [3, 3])
        x = ops.reshape(x, [1, 36])
        result: torch.Tensor = ops.linear(x, *self._constants("linear"), 0, 0, *ends)
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        return torch.randint(-(2**15), 2**15, (1, 2, 6, 6), generator=random).to(torch.int16)


class Past(torch.nn.Module):
    """A state: the last sixteen of all inputs."""

    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("past", torch.full((2, 16), 7, dtype=torch.int8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int8 [2, 5] to int8 [2, 21]."""
        ops: Any = torch.ops.pl
        signal = ops.cat([self.past, x], 1)
        self.past.copy_(ops.slice(signal, 1, 5, 21, 1))
        result: torch.Tensor = ops.mul(signal, signal, 0, 0, 0, 2**30, -6, -128, 127)
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        return torch.randint(-128, 128, (2, 5), generator=random).to(torch.int8)


class Read(torch.nn.Module):
    """A GRU that reads from the end, and an LSTM, with states of their own."""

    table: torch.Tensor
    gru_bias_of_n: torch.Tensor
    gru_hidden: torch.Tensor
    lstm_hidden: torch.Tensor
    lstm_cell: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        random = torch.Generator().manual_seed(1)
        table = torch.sigmoid(torch.arange(385) / 32).mul(65536).round().sub(32768).clamp(max=32767)
        self.register_buffer("table", table.to(torch.int16))
        self.register_buffer("gru_bias_of_n", torch.full((4,), 1000).int())
        for name, inputs, units, gates in (("gru", 3, 4, 3), ("lstm", 4, 3, 4)):
            rows = units * gates
            for part, width in (("weight", inputs), ("hidden_weight", units)):
                weight = torch.randint(-127, 128, (rows, width), generator=random).to(torch.int8)
                self.register_buffer(f"{name}_{part}", weight)
            self.register_buffer(f"{name}_bias", torch.full((rows,), 100).int())
            for part, shift in (("", 1), ("hidden_", -8)):
                self.register_buffer(f"{name}_{part}multiplier", torch.full((rows,), 2**30).int())
                self.register_buffer(f"{name}_{part}shift", torch.full((rows,), shift).int())
            for part in ("hidden", "cell")[: 1 + (name == "lstm")]:
                self.register_buffer(f"{name}_{part}", torch.full((2, units), 9).short())

    def _constants(self, name: str, *between: torch.Tensor) -> list[torch.Tensor]:
        def of(*parts: str) -> list[torch.Tensor]:
            return [getattr(self, f"{name}_{part}") for part in parts]

        return [
            *of("weight", "bias", "multiplier", "shift", "hidden_weight"),
            *between,
            *of("hidden_multiplier", "hidden_shift"),
            self.table,
        ]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int8 [2, 5, 3] to int8 [2, 5, 3]: batches of five steps."""
        ops: Any = torch.ops.pl
        output = (2**30, -7, 0)
        gru = self._constants("gru", self.gru_bias_of_n)
        x, hidden = ops.gru(x, self.gru_hidden, *gru, 3, 15, *output, True, True)
        self.gru_hidden.copy_(hidden)
        y, hidden, cell = ops.lstm(
            x,
            self.lstm_hidden,
            self.lstm_cell,
            *self._constants("lstm"),
            0,
            15,
            12,
            2**15,
            *output,
            False,
            True,
        )
        self.lstm_hidden.copy_(hidden)
        self.lstm_cell.copy_(cell)
        result: torch.Tensor = y
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        return torch.randint(-128, 128, (2, 5, 3), generator=random).to(torch.int8)


class Sums(torch.nn.Module):
    """Additions, products and means, each also with factors that divide."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int8 [1, 4, 6] to int8 [1, 4, 1]."""
        ops: Any = torch.ops.pl
        ends = (-128, 127)
        y = ops.add(x, x, 3, 2**30, 1, 3, 2**30, -1, 20, 1, 2**30, -19, *ends)
        x = ops.add(x, y, 3, 2**30, 0, 1, -(2**30), -1, 20, 0, 2**30, -18, *ends)
        y = ops.mul(x, y, 0, 1, 2, 2**30, 0, *ends)
        x = ops.mul(x, y, 0, 2, 3, 2**30, -6, *ends)
        result: torch.Tensor = ops.mean(x, [2], True, 3, -3, 2**30, -2)
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        return torch.randint(-128, 128, (1, 4, 6), generator=random).to(torch.int8)


class WideSums(torch.nn.Module):
    """The same of int16 values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x int16 [1, 4, 6] to int16 [1, 4, 1]."""
        ops: Any = torch.ops.pl
        ends = (-(2**15), 2**15 - 1)
        y = ops.add(x, x, 0, 2**30, 1, 0, 2**30, -1, 14, 0, 2**30, -13, *ends)
        x = ops.add(x, y, 0, 2**30, 0, 0, -(2**30), -1, 15, 0, 2**30, -13, *ends)
        y = ops.mul(x, y, 0, 0, 0, 2**30, 0, *ends)
        x = ops.mul(x, y, 0, 0, 0, 2**30, -15, *ends)
        result: torch.Tensor = ops.mean(x, [2], True, 0, 0, 2**30, -2)
        return result

    def example(self, seed: int = 0) -> torch.Tensor:
        """Return an input."""
        random = torch.Generator().manual_seed(seed)
        return torch.randint(-(2**15), 2**15, (1, 4, 6), generator=random).to(torch.int16)


class Called(torch.nn.Module):
    """A case of a kernel's folder, with all its constants as buffers."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._case = case
        self._arguments = arguments_of(case)
        for name in case.constants:
            for index, tensor in enumerate(self._tensors(name)):
                self.register_buffer(f"{name}_{index}", tensor)

    def _tensors(self, name: str) -> list[torch.Tensor]:
        given = self._arguments[name]
        return given if isinstance(given, list) else [given]

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Call the op."""
        given = {**self._arguments, **dict(zip(self._case.inputs, inputs, strict=True))}
        for name in self._case.constants:
            tensors = [getattr(self, f"{name}_{i}") for i in range(len(self._tensors(name)))]
            given[name] = tensors if isinstance(self._arguments[name], list) else tensors[0]
        op = getattr(torch.ops.pl, self._case.op.removeprefix("pl::"))
        result: torch.Tensor = op(**given)
        return result

    def example(self, seed: int = 0) -> tuple[torch.Tensor, ...]:
        """Return the inputs."""
        return tuple(self._arguments[name] for name in self._case.inputs)


Sample = Network | Wide | Past | Read | Sums | WideSums | Called


def _inputs(network: Sample, seed: int = 0) -> tuple[torch.Tensor, ...]:
    given = network.example(seed)
    return given if isinstance(given, tuple) else (given,)


def sample_plan(network: Sample) -> Plan:
    program = read_program(export_pte(network, _inputs(network)))
    return package_plan(program, package_board(sample_board(), MEMORY))


def sample_vectors(network: Sample | None = None, count: int = 2) -> Arrays:
    """Return inputs, and the outputs of the model's reference for them."""
    network = copy.deepcopy(network or Network()).eval()  # its state does not change
    inputs = [_inputs(network, seed) for seed in range(count)]
    outputs = [network(*given) for given in inputs]
    return {
        **{
            f"input_{index}": np.stack([x.numpy() for x in given])
            for index, given in enumerate(zip(*inputs, strict=True))
        },
        "output_0": np.stack([y.numpy() for y in outputs]),
    }


def _monocypher() -> Path:
    """Return the folder of its source."""
    return Path(os.environ["PILOTLIGHT_MONOCYPHER"])


class Host:
    """Compiles everything once, in a folder, for packages of a network.

    Args:
      folder: for the compiled files.
      network: a small one, if none is given.
      other: a Host whose network-independent files are reused.
    """

    def __init__(
        self, folder: Path, network: Sample | None = None, other: Host | None = None
    ) -> None:
        self.folder = folder
        self.other = other
        self._objects: dict[Path, Path] = {}
        self.network = network or Network()
        self.root = Path.cwd()
        self.plan = sample_plan(self.network)
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
        """Return a package of the sample model; `changes` are other arguments of make_package."""
        arguments: dict[str, Any] = {
            "compiled": read_object(self.compiled),
            "plan": plan_json(self.plan, NAME),
            "core": "host",
            "vectors": sample_vectors(self.network),
            "name": MODEL,
            "key": self.key,
            **changes,
        }
        return make_package(**arguments, version=version)

    def signed(self, package: bytes) -> bytes:
        """Return a changed package with the hash and the signature it then needs."""
        contents = hashlib.sha512(package[HEADER:]).digest()
        header = package[: HEADER - 128] + contents
        return header + self.key.sign(header) + package[HEADER:]

    def write(self, name: str, package: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(package)
        return path

    def _kernels(self, functions: Sequence[str]) -> list[Path]:
        """Return the sources of the folders with these functions, and of folders whose headers they
        include.
        """
        sources = [
            path
            for path in sorted(self.root.glob("kernels/*/*.c"))
            if path.parent.name != "testing"
            and not path.stem.endswith(("_dsp", "_mve", "_test", "_thumb1"))
        ]
        called = re.compile(rf"\b({'|'.join(functions)})\(")
        folders = ["common"]
        folders += [p.parent.name for p in sources if called.search(p.read_text())]
        for folder in folders:
            for path in sorted((self.root / "kernels" / folder).glob("*.[ch]")):
                included = re.findall(r'#include "kernels/(\w+)/', path.read_text())
                folders += [name for name in dict.fromkeys(included) if name not in folders]
        return [path for path in sources if path.parent.name in folders]

    def _compiled(self, sources: Sequence[Path]) -> list[Path]:
        """Return the objects of runtime and kernels, each compiled once."""
        if self.other is not None:
            return self.other._compiled(sources)

        def compiled(job: tuple[int, Path]) -> Path:
            output = self.folder / f"{job[0]}_{job[1].stem}.o"
            return self._gcc(output, *_SANITIZED, "-c", job[1])

        missing = [path for path in sources if path not in self._objects]
        with ThreadPoolExecutor() as pool:
            made = list(pool.map(compiled, enumerate(missing, len(self._objects))))
        self._objects.update(zip(missing, made, strict=True))
        return [self._objects[path] for path in sources]

    def program(self, functions: Sequence[str], name: str) -> Path:
        """Compile host_main.c with these kernels."""
        folder = self.folder / name
        folder.mkdir()
        header = "host_kernels.h"
        text = kernel_table.source("host_kernels", header, "host", functions)
        (folder / "host_kernels.c").write_text(text)
        (folder / header).write_text(
            kernel_table.header("host_kernels", {MODEL: plan_json(self.plan, NAME)})
        )
        runtime = [*(self.root / path for path in _RUNTIME), _monocypher() / "monocypher.c"]
        objects = self._compiled([*runtime, *self._kernels(functions)])
        sources = [self.root / "firmware/slot/testing/host_main.c", folder / "host_kernels.c"]
        sizes = (f"-DMEMORY_BYTES={MEMORY}", f"-DSLOT_BYTES={SLOT_BYTES}", f"-I{folder}")
        options = (*_SANITIZED, *sizes, "-no-pie")
        return self._gcc(folder / "program", *options, *sources, *objects, "-lm")


def other_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def run(program: Path, *arguments: str | Path, is_defined: bool = False) -> str:
    """Return the output of a program. Raise AssertionError if a sanitizer or a check fails.

    Args:
      program: of Host.
      *arguments: its.
      is_defined: undefined shifts and overflows fail; else only addresses count.
    """
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "UBSAN_OPTIONS": f"halt_on_error={int(is_defined)}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
