# SPDX-License-Identifier: Apache-2.0
"""The NPU model from Python: `EthosUModel("ethos-u55-128").run(payload, inputs)`.

The arithmetic is that of `model/model.h`, in the shared library `libethos_u_model.so`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from npu.ethos_u.isa import COMMANDS, Family
from npu.ethos_u.payload import Payload, PayloadError, PayloadTensor, parse_payload

CONFIGS: dict[str, int] = {  # name -> CONFIG register
    "ethos-u55-32": 0x00001005,
    "ethos-u55-64": 0x00001006,
    "ethos-u55-128": 0x00001807,
    "ethos-u55-256": 0x00003008,
    "ethos-u65-256": 0x10003008,
    "ethos-u65-512": 0x10006009,
    "ethos-u85-128": 0x20000117,
    "ethos-u85-256": 0x20000118,
    "ethos-u85-512": 0x20001119,
    "ethos-u85-1024": 0x2000251A,
    "ethos-u85-2048": 0x2000261B,
}
REGIONS = 8
_STATE_BYTES = 8 * 1024
_ALIGNMENT = 16
_NO_FIELD = 0xFFFF
_LIBRARY = Path(__file__).parent / "libethos_u_model.so"
_DTYPES = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


class EthosUError(RuntimeError):
    """Refusal by the model. `status` is the C name, such as "ETHOS_U_ERROR_UNSUPPORTED"."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(frozen=True)
class NpuMemory:
    """Speed of a region's memory."""

    bytes_per_cycle: float
    latency: int  # cycles
    burst_bytes: int  # at most

    def value(self) -> tuple[int, int, int]:
        """Return the form for the library: the bandwidth in sixteenths."""
        return round(16 * self.bytes_per_cycle), self.latency, self.burst_bytes


@dataclass(frozen=True)
class NpuCounts:
    """Work of an operation: estimated cycles (0 on U85), multiply-accumulates, bytes by region."""

    cycles: int
    macs: int
    read: tuple[int, ...]
    written: tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """One operation of the stream. Shapes are height, width, depth; 0 for transfers."""

    command: int  # index in the stream
    name: str
    mode: int  # pooling or elementwise mode
    ifm_shape: tuple[int, int, int]
    ofm_shape: tuple[int, int, int]
    counts: NpuCounts


@dataclass(frozen=True)
class Summary:
    """Needs and work of a stream."""

    commands: int
    operations: int
    workspace_bytes: int
    region_bytes: tuple[int, ...]  # end of the highest access to each region
    counts: NpuCounts


class _Stream(ctypes.Structure):
    _fields_ = [
        ("words", ctypes.c_void_p),
        ("count", ctypes.c_uint32),
        ("config", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
    ]


class _Region(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint32), ("writable", ctypes.c_bool)]


class _Counts(ctypes.Structure):
    _fields_ = [
        ("cycles", ctypes.c_uint64),
        ("macs", ctypes.c_uint64),
        ("read", ctypes.c_uint64 * REGIONS),
        ("written", ctypes.c_uint64 * REGIONS),
    ]

    def value(self) -> NpuCounts:
        return NpuCounts(self.cycles, self.macs, tuple(self.read), tuple(self.written))


class _Operation(ctypes.Structure):
    _fields_ = [
        ("command", ctypes.c_uint32),
        ("offset", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16),
        ("mode", ctypes.c_uint16),
        ("ifm_shape", ctypes.c_uint32 * 3),
        ("ofm_shape", ctypes.c_uint32 * 3),
        ("counts", _Counts),
    ]


_Observer = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Operation))


class _Memory(ctypes.Structure):
    _fields_ = [
        ("bandwidth", ctypes.c_uint16),
        ("latency", ctypes.c_uint16),
        ("burst_bytes", ctypes.c_uint16),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("memories", ctypes.POINTER(_Memory)),
        ("check_hazards", ctypes.c_bool),
        ("observer", _Observer),
        ("observer_context", ctypes.c_void_p),
    ]


class _Summary(ctypes.Structure):
    _fields_ = [
        ("commands", ctypes.c_uint32),
        ("operations", ctypes.c_uint32),
        ("workspace_bytes", ctypes.c_uint64),
        ("region_bytes", ctypes.c_uint64 * REGIONS),
        ("counts", _Counts),
    ]


class _Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("command", ctypes.c_uint32),
        ("offset", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16),
        ("field", ctypes.c_uint16),
        ("detail", ctypes.c_char_p),
        ("value", ctypes.c_int64),
    ]


def _command_name(family: Family, key: int) -> str:
    command = COMMANDS[family].get(key)
    return command.name if command else f"{key:#06x}"


def _message(family: Family, error: _Error) -> str:
    parts = []
    if error.opcode != _NO_FIELD:
        name = _command_name(family, error.opcode)
        parts.append(f"command {error.command} (word {error.offset}) {name}")
    if error.field != _NO_FIELD:
        parts.append(_command_name(family, error.field))
    detail = error.detail.decode() if error.detail else "value"
    parts.append(f"{detail}: {error.value} ({error.value & 0xFFFFFFFFFFFFFFFF:#x})")
    return ", ".join(parts)


def configuration_of(payload: Payload) -> str:
    """Return the name of a payload's NPU. Raise PayloadError if the model does not know it."""
    for name, config in CONFIGS.items():
        if config == payload.config:
            return name
    raise PayloadError(f"CONFIG {payload.config:#010x} is unknown; known are {', '.join(CONFIGS)}")


def _aligned(size: int, status: str = "ETHOS_U_ERROR_SCRATCH_SIZE") -> npt.NDArray[np.uint8]:
    """Return `size` zero bytes, aligned to 16. Raise the error `status` if memory is short."""
    try:
        memory = np.zeros(size + _ALIGNMENT, np.uint8)
    except MemoryError as error:
        raise EthosUError(status, f"this machine cannot provide {size} bytes of memory") from error
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size]


def _input_bytes(index: int, array: object, tensor: PayloadTensor) -> bytes:
    """Return an input's bytes. Raise TypeError or ValueError if the payload needs another."""
    if not isinstance(array, np.ndarray):
        kind = f"{type(array).__module__}.{type(array).__name__}".removeprefix("builtins.")
        raise TypeError(
            f"input {index} must be a numpy array; it is a {kind}. Use x.numpy() for a tensor, "
            "np.array(x, np.int8) for a list"
        )
    if (
        array.dtype.kind not in "iu"
        or array.nbytes != tensor.bytes
        or array.itemsize != tensor.element_size
    ):
        raise ValueError(
            f"input {index} is {array.dtype} {array.shape}; the payload needs "
            f"{tensor.element_size}-byte integers of shape {tensor.shape}"
        )
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _inputs_as_bytes(inputs: object, tensors: tuple[PayloadTensor, ...]) -> list[bytes]:
    if not isinstance(inputs, Sequence):
        raise TypeError(
            f"inputs must be a list with one array per input; got {type(inputs).__name__}"
        )
    if len(inputs) != len(tensors):
        raise ValueError(f"{len(inputs)} inputs given; the payload needs {len(tensors)}")
    pairs = zip(inputs, tensors, strict=True)
    return [_input_bytes(index, array, tensor) for index, (array, tensor) in enumerate(pairs)]


def _address(array: npt.NDArray[Any]) -> int:
    return int(array.ctypes.data)


class EthosUModel:
    """A functional model of one NPU configuration.

    Args:
        config: Vela's name for it, one of `CONFIGS`.
        check_hazards: report missing waits between transfers and kernels as errors.
        memories: speed of the memory of each region, for the estimate of cycles; by default
            constants in flash (U55) or DRAM (U65) and everything else in SRAM.
        library: the shared library, by default the one built next to this file.
    """

    def __init__(
        self,
        config: str,
        check_hazards: bool = False,
        memories: Sequence[NpuMemory] | None = None,
        library: Path = _LIBRARY,
    ) -> None:
        if config not in CONFIGS:
            raise ValueError(f"unknown NPU {config!r}; known are {', '.join(CONFIGS)}")
        self.config = config
        self._family = Family.U85 if config.startswith("ethos-u85-") else Family.U55
        self.check_hazards = check_hazards
        self.operations: list[Operation] = []  # operations of the last run or inspection
        self.summary: Summary | None = None
        self._memories = (
            (_Memory * REGIONS)(*(_Memory(*m.value()) for m in memories)) if memories else None
        )
        self._library = ctypes.CDLL(str(library))
        self._library.ethos_u_status_name.restype = ctypes.c_char_p

    def inspect(self, payload: bytes) -> Summary:
        """Check a payload's whole stream and return its needs, without executing it.

        Raises EthosUError for refusals by the model, PayloadError for a broken container.
        """
        return self._execute(self._parse(payload), None)

    def run(self, payload: bytes, inputs: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Execute a payload.

        Args:
            payload: ExecuTorch's Ethos-U payload, compiled for this configuration.
            inputs: one C-ordered array for each of the payload's inputs, in any shape. Each has
                the payload's element count and size (int8 or uint8, int16, int32, int64).

        Returns:
            The outputs, int8, int16, int32 or int64 by element size, in the payload's shape
            (padded at the start with 1 to six dimensions).

        Raises:
            EthosUError: refusals by the model.
            PayloadError: the container is broken.
            ValueError: inputs different from the payload's.
            TypeError: inputs other than numpy arrays, a payload other than bytes.
        """
        parsed = self._parse(payload)
        data = _inputs_as_bytes(inputs, parsed.inputs)
        memory = self._memory(parsed, self._execute(parsed, None))
        for tensor, value in zip(parsed.inputs, data, strict=True):
            memory[tensor.region][tensor.offset : tensor.end] = np.frombuffer(value, np.uint8)
        self._execute(parsed, memory)
        return [
            memory[tensor.region][tensor.offset : tensor.end]
            .view(_DTYPES[tensor.element_size])
            .reshape(tensor.shape)
            .copy()
            for tensor in parsed.outputs
        ]

    @staticmethod
    def _memory(payload: Payload, summary: Summary) -> list[npt.NDArray[np.uint8]]:
        """Return the regions: constants, scratch, and others that the stream or tensors access."""
        sizes = list(summary.region_bytes)
        sizes[0], sizes[1] = len(payload.weights), payload.scratch_size
        for tensor in (*payload.inputs, *payload.outputs):
            sizes[tensor.region] = max(sizes[tensor.region], tensor.end)
        memory = [_aligned(size) for size in sizes]
        memory[0][:] = np.frombuffer(payload.weights, np.uint8)
        return memory

    def _parse(self, payload: bytes) -> Payload:
        parsed = parse_payload(payload)
        if parsed.config != CONFIGS[self.config]:
            names = [name for name, config in CONFIGS.items() if config == parsed.config]
            raise EthosUError(
                "ETHOS_U_ERROR_CONFIG",
                f"the payload is for {names[0] if names else hex(parsed.config)}, but the "
                f"functional model is set to {self.config}",
            )
        return parsed

    def _observer(self) -> Callable[[Any, Any], None]:
        self.operations = []

        def observe(_context: Any, pointer: Any) -> None:
            seen = pointer.contents
            self.operations.append(
                Operation(
                    seen.command,
                    _command_name(self._family, seen.opcode),
                    seen.mode,
                    tuple(seen.ifm_shape),
                    tuple(seen.ofm_shape),
                    seen.counts.value(),
                )
            )

        return observe

    def _execute(self, payload: Payload, memory: list[npt.NDArray[np.uint8]] | None) -> Summary:
        words = _aligned(4 * len(payload.words))
        words[:] = np.asarray(payload.words, np.uint32).view(np.uint8)
        stream = _Stream(_address(words), len(payload.words), payload.config, payload.id)
        options = _Options(self._memories, self.check_hazards, _Observer(self._observer()), None)
        summary = _Summary()
        error = _Error()
        workspace = _aligned(_STATE_BYTES)
        tail = (ctypes.byref(options), ctypes.byref(summary), ctypes.byref(error))
        status = self._library.ethos_u_model_inspect(
            ctypes.byref(stream),
            ctypes.c_void_p(_address(workspace)),
            ctypes.c_uint64(workspace.size),
            *tail,
        )
        if status == 0 and memory is not None:
            workspace = _aligned(summary.workspace_bytes, "ETHOS_U_ERROR_WORKSPACE")
            options.observer = _Observer(self._observer())
            regions = (_Region * REGIONS)(
                *(_Region(_address(m), m.size, i != 0) for i, m in enumerate(memory))
            )
            status = self._library.ethos_u_model_run(
                ctypes.byref(stream),
                regions,
                ctypes.c_void_p(_address(workspace)),
                ctypes.c_uint64(workspace.size),
                *tail,
            )
        if status != 0:
            name = self._library.ethos_u_status_name(status).decode()
            raise EthosUError(name, _message(self._family, error))
        self.summary = Summary(
            summary.commands,
            summary.operations,
            summary.workspace_bytes,
            tuple(summary.region_bytes),
            summary.counts.value(),
        )
        return self.summary
