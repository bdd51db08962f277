# SPDX-License-Identifier: Apache-2.0
"""Command streams as text: one line a command, addresses as region+offset."""

from __future__ import annotations

from collections.abc import Iterator

from npu.ethos_u.isa import COMMANDS, Command, Family, Field, value_name
from npu.ethos_u.payload import Payload, PayloadError

_FAMILIES = {0: Family.U55, 1: Family.U55, 2: Family.U85}  # by CONFIG's product
_PRODUCTS = {0: "Ethos-U55", 1: "Ethos-U65", 2: "Ethos-U85"}
_SIGNED = {"zero_point", "clip_boundary", "scalar", "stride", "skip"}

# Register with the region of an address, by the start of the address's name.
_REGIONS = (
    ("SET_IFM2_", "SET_IFM2_REGION"),
    ("SET_IFM_", "SET_IFM_REGION"),
    ("SET_OFM_", "SET_OFM_REGION"),
    ("SET_WEIGHT", "SET_WEIGHT_REGION"),
    ("SET_SCALE", "SET_SCALE_REGION"),
    ("SET_DMA0_SRC", "SET_DMA0_SRC_REGION"),
    ("SET_DMA0_DST", "SET_DMA0_DST_REGION"),
    ("SET_DMA0_IDX", "SET_DMA0_IDX_REGION"),
)
_WITH_WEIGHTS = ("OP_CONV", "OP_DEPTHWISE")
_KERNELS = (*_WITH_WEIGHTS, "OP_POOL", "OP_ELEMENTWISE", "OP_RESIZE")


def family_of(config: int) -> Family:
    """Return the command set of the NPU with this CONFIG register. Raises PayloadError."""
    if config >> 28 not in _FAMILIES:
        raise PayloadError(f"CONFIG {config:#010x}: unknown product {config >> 28}")
    return _FAMILIES[config >> 28]


def _sign_extend(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


class _Disassembler:
    """State of the registers: regions of addresses and summaries of operations."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.registers: dict[str, dict[str, int]] = {}

    def _register(self, name: str, field: str) -> int:
        return self.registers.get(name, {}).get(field, 0)

    def _address(self, name: str, value: int) -> str:
        for prefix, register in _REGIONS:
            if name.startswith(prefix):
                if self._register(register, "region_mode"):
                    return f"internal+{value:#x}"
                return f"{self._register(register, 'region')}+{value:#x}"
        return f"{value:#x}"

    def _field(self, command: Command, field: Field, value: int) -> str:
        if field.name == "address":
            return self._address(command.name, value)
        if field.name in _SIGNED:
            return str(_sign_extend(value, 32 if field.in_payload else 16))
        if field.name in ("length", "scale"):
            return str(value)
        return f"{field.name}={value_name(self.family, field.name, value)}"

    def _shape(self, name: str) -> str:
        rows = self._register("SET_OFM_HEIGHT_M1", "height_m1") + 1
        columns = self._register("SET_OFM_WIDTH_M1", "width_m1") + 1
        depth = self._register(f"SET_{name}_DEPTH_M1", "depth_m1") + 1
        return f"{rows}x{columns}x{depth}" if name == "OFM" else f"depth {depth}"

    def _precision(self, name: str) -> str:
        register = f"SET_{name}_PRECISION"
        bits = 8 << self._register(register, "activation_precision")
        sign = "" if self._register(register, "activation_type") else "u"
        layout = value_name(
            self.family, "activation_format", self._register(register, "activation_format")
        )
        return f"{sign}int{bits} {layout}"

    def _summary(self, command: Command) -> str:
        parts = [f"IFM {self._shape('IFM')} {self._precision('IFM')}"]
        if command.name != "OP_ELEMENTWISE":
            rows = self._register("SET_KERNEL_HEIGHT_M1", "height_m1") + 1
            columns = self._register("SET_KERNEL_WIDTH_M1", "width_m1") + 1
            parts.append(f"window {rows}x{columns}")
        parts.append(f"OFM {self._shape('OFM')} {self._precision('OFM')}")
        if self._register(command.name, "weights_ifm2"):
            parts.append("weights from IFM2")
        elif command.name in _WITH_WEIGHTS:
            size = sum(
                self._register(f"SET_WEIGHT{stream}_LENGTH", "length")
                for stream in ("", "1", "2", "3")
            )
            region = self._register("SET_WEIGHT_REGION", "region")
            base = self._register("SET_WEIGHT_BASE", "address")
            parts.append(f"weights {size} bytes at {region}+{base:#x}")
        return ", ".join(parts)

    def line(self, word: int, payload: int) -> tuple[str, bool]:
        """Return a command's text, and True if it ends the stream."""
        command = COMMANDS[self.family].get(word & 0xFFFF)
        if command is None:
            return f"unknown {word:#010x}", False
        values = {field.name: field.value(word, payload) for field in command.fields}
        self.registers[command.name] = values
        if "address" in values:
            values["address"] |= values.get("high", 0) << 32
        fields = [
            self._field(command, field, values[field.name])
            for field in command.fields
            if field.name != "high"
        ]
        text = f"{command.name:<22} {' '.join(fields)}".rstrip()
        reserved = word >> 16 & ~command.mask(False) | payload & ~command.mask(True)
        if reserved:
            text += f"  reserved bits {reserved:#x}"
        if command.name in _KERNELS:
            text = f"{text:<48} ; {self._summary(command)}"
        return text, command.name == "OP_STOP"


def disassemble(words: tuple[int, ...], family: Family) -> Iterator[str]:
    """Yield lines for the commands of a stream: index, word offset, name, fields."""
    disassembler = _Disassembler(family)
    at = index = 0
    while at < len(words):
        offset = at
        word = words[at]
        at += 1
        payload = 0
        if word >> 14 & 3 == 1:
            if at == len(words):
                yield f"{index:5} {offset:6}  truncated: {word:#010x} has no payload word"
                return
            payload = words[at]
            at += 1
        text, stopped = disassembler.line(word, payload)
        yield f"{index:5} {offset:6}  {text}"
        index += 1
        if stopped:
            return
    yield f"{index:5} {at:6}  truncated: no OP_STOP"


def describe(payload: Payload) -> Iterator[str]:
    """Yield lines about a payload: target, memory, inputs and outputs, then its commands."""
    family = family_of(payload.config)
    macs = 1 << (payload.config & 15)
    yield (
        f"{_PRODUCTS[payload.config >> 28]}, {macs} MACs, {payload.config >> 8 & 255} KB SHRAM "
        f"(CONFIG {payload.config:#010x}, architecture {payload.id:#010x})"
    )
    yield f"weights {len(payload.weights)} bytes, scratch {payload.scratch_size} bytes"
    for name, tensors in (("input", payload.inputs), ("output", payload.outputs)):
        for index, tensor in enumerate(tensors):
            shape = "x".join(str(size) for size in tensor.shape)
            yield (
                f"{name} {index}: {shape}, {tensor.element_size}-byte elements "
                f"at {tensor.region}+{tensor.offset:#x}"
            )
    yield from disassemble(payload.words, family)
