# SPDX-License-Identifier: Apache-2.0
"""Finds the constants read by a payload's commands: weights, scales, tables, operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from npu.ethos_u.isa import COMMANDS, Family, value_name
from npu.ethos_u.payload import Payload

Kind = Literal["weights", "scales", "table", "operand"]


@dataclass(frozen=True)
class Constant:
    """Bytes `offset` to `offset + length` of region 0. Of an operand only the first element."""

    kind: Kind
    offset: int
    length: int


@dataclass(frozen=True)
class _Transfer:
    region: int
    address: int
    offset: int  # in region 0
    length: int


class _Walker:
    """Registers, and the data copied out of region 0."""

    def __init__(self) -> None:
        self.registers: dict[str, dict[str, int]] = {}
        self.transfers: list[_Transfer] = []

    def _value(self, register: str, field: str) -> int:
        return self.registers.get(register, {}).get(field, 0)

    def _constant(self, kind: Kind, region: int, address: int, length: int) -> Iterator[Constant]:
        """Yield the constant's place in region 0, directly or as the source of a copy."""
        if region == 0:
            yield Constant(kind, address, length)
            return
        for transfer in reversed(self.transfers):
            start = address - transfer.address
            if transfer.region == region and 0 <= start <= transfer.length - length:
                yield Constant(kind, transfer.offset + start, length)
                return

    def _streams(self, kind: Kind, register: str) -> Iterator[Constant]:
        region = self._value(f"{register}_REGION", "region")
        for core in ("", "1"):
            length = self._value(f"{register}{core}_LENGTH", "length")
            address = self._value(f"{register}{core}_BASE", "address")
            if length:
                yield from self._constant(kind, region, address, length)

    def _operand(self, register: str) -> Iterator[Constant]:
        if self._value(f"{register}_REGION", "region") == 0:
            size = 1 << self._value(f"{register}_PRECISION", "activation_precision")
            yield Constant("operand", self._value(f"{register}_BASE0", "address"), size)

    def _has_operand2(self, mode: int) -> bool:
        unary = value_name(Family.U55, "elementwise_mode", mode) in ("LRELU", "ABS", "CLZ")
        return not unary and not self._value("SET_IFM2_BROADCAST", "broadcast_constant")

    def _transfer(self) -> Iterator[Constant]:
        target = self.registers["SET_DMA0_DST_REGION"]
        offset = self._value("SET_DMA0_SRC", "address")
        length = self._value("SET_DMA0_LEN", "length")
        if self._value("SET_DMA0_SRC_REGION", "region") != 0:
            return
        if target["region_mode"]:
            yield Constant("table", offset, length)
        else:
            address = self._value("SET_DMA0_DST", "address")
            self.transfers.append(_Transfer(target["region"], address, offset, length))

    def command(self, name: str, values: dict[str, int]) -> Iterator[Constant]:
        """Yield the constants read by this command."""
        self.registers[name] = values
        if name == "OP_DMA_START":
            yield from self._transfer()
        if name in ("OP_CONV", "OP_DEPTHWISE"):
            yield from self._streams("weights", "SET_WEIGHT")
            yield from self._streams("scales", "SET_SCALE")
        if name in ("OP_POOL", "OP_ELEMENTWISE"):
            yield from self._operand("SET_IFM")
        if name == "OP_ELEMENTWISE" and self._has_operand2(values["elementwise_mode"]):
            yield from self._operand("SET_IFM2")


def constants(payload: Payload) -> list[Constant]:
    """Return the constants of a payload for U55 or U65, each once, in order of first use."""
    walker = _Walker()
    words = iter(payload.words)
    found: dict[Constant, None] = {}
    for word in words:
        command = COMMANDS[Family.U55][word & 0xFFFF]
        value = next(words) if command.has_payload else 0
        values = {field.name: field.value(word, value) for field in command.fields}
        if "address" in values:
            values["address"] |= values.get("high", 0) << 32
        found |= dict.fromkeys(walker.command(command.name, values))
    return list(found)
