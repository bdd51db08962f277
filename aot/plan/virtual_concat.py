# SPDX-License-Identifier: Apache-2.0
"""Virtual concats: a convolution reads the inputs of a concatenation directly, by im2col.

Nearest upsampling of an input is not executed either, if it has no other reader. This costs
instructions, so it is used if memory is short.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from aot.plan.graph import alias_offset
from aot.plan.program import PlanProgram
from kernels.common.kernel import OpCall, Value


def concatenations(program: PlanProgram) -> list[str]:
    """Return the results of possible virtual concats, the largest first."""
    uses = _Uses(program)
    found = [call.output() for call in program.calls if uses.can_be_pieces(call)]
    return [value.name for value in sorted(found, key=lambda value: -value.bytes)]


def with_virtual_concats(program: PlanProgram, names: Collection[str]) -> PlanProgram:
    """Return the program without some of its `concatenations`."""
    uses = _Uses(program)
    calls = []
    for call in program.calls:
        cat = uses.made.get(uses.root(call.tensor("input").name)) if _is_convolution(call) else None
        is_read = cat is not None and cat.output().name in names
        calls.append(uses.of_pieces(call, cat, names) if cat is not None and is_read else call)
    return replace(program, calls=tuple(_without_unread(program, calls)))


@dataclass(frozen=True, eq=False)
class _Upsampled:
    """A tensor whose pixels repeat 1 << shift times, in both directions."""

    source: Value
    shift_h: int = 0
    shift_w: int = 0

    def as_image(self, height: int, width: int) -> Value:
        """Return the tensor as one image of this height and width, before its upsampling."""
        shape = (1, height >> self.shift_h, width >> self.shift_w, self.source.shape[-1])
        return replace(self.source, shape=shape)


class _Uses:
    """Writers and readers of a program's tensors. Pure changes of shape are skipped."""

    def __init__(self, program: PlanProgram) -> None:
        self.made = {value.name: call for call in program.calls for value in call.outputs}
        self._readers: dict[str, list[OpCall]] = {}
        for call in program.calls:
            if not _keeps_bytes(call):
                for value in _activations(call):
                    self._readers.setdefault(self.root(value.name), []).append(call)
        kept = [port.value for port in program.outputs]
        kept += [value for state in program.states for value in (state.value, state.new)]
        self._kept = {self.root(value.name) for value in kept}

    def root(self, name: str) -> str:
        """Return the tensor that owns all bytes of a tensor."""
        while name in self.made and _keeps_bytes(self.made[name]):
            name = self.made[name].tensor("input").name
        return name

    def can_be_pieces(self, call: OpCall) -> bool:
        """Return True if a call concatenates channels of an image that only convolutions read."""
        if call.op != "pl::cat":
            return False
        output, inputs = call.output(), call.tensors("inputs")
        readers = self._readers.get(output.name, [])
        return (
            output.dtype == "int8"
            and output.name not in self._kept
            and call.integer("dim") == len(output.shape) - 1 > 0
            and all(value.constant is None for value in inputs)
            and bool(readers)
            and all(
                _is_convolution(reader)
                and reader.tensor("input").shape[3] == output.shape[-1]
                and reader.tensor("input").bytes == output.bytes
                for reader in readers
            )
        )

    def of_pieces(self, convolution: OpCall, cat: OpCall, names: Collection[str]) -> OpCall:
        """Return the convolution that reads the concatenation's inputs."""
        _, height, width, _ = convolution.tensor("input").shape
        pieces = [self._piece(value, names) for value in cat.tensors("inputs")]
        args = {
            name: value
            for name, value in convolution.args.items()
            if name not in ("input", "groups")
        }
        args["inputs"] = [piece.as_image(height, width) for piece in pieces]
        args["shifts"] = [shift for piece in pieces for shift in (piece.shift_h, piece.shift_w)]
        return replace(convolution, op="plan::conv2d_pieces", args=args)

    def _piece(self, value: Value, names: Collection[str]) -> _Upsampled:
        """Return an input of a concatenation, or the source of its upsampling."""
        root = self.root(value.name)
        readers = self._readers[root]
        found = _upsampled(self.made[root]) if root in self.made else None
        joined = all(r.op == "pl::cat" and r.output().name in names for r in readers)
        if found is None or not joined or root in self._kept:
            return _Upsampled(value)
        return found


def _is_convolution(call: OpCall) -> bool:
    if call.op != "pl::conv2d":
        return False
    value = call.tensor("input")
    one = len(value.shape) == 4 and value.shape[0] == 1
    return one and value.dtype == "int8" and call.integer("groups") == 1


def _keeps_bytes(call: OpCall) -> bool:
    return alias_offset(call) == 0 and call.tensor("input").bytes == call.output().bytes


def _activations(call: OpCall) -> Iterator[Value]:
    for argument in call.args.values():
        for value in argument if isinstance(argument, (list, tuple)) else (argument,):
            if isinstance(value, Value) and value.constant is None:
                yield value


def _upsampled(call: OpCall) -> _Upsampled | None:
    """Return the source of an upsampling by powers of two, else None."""
    if call.op != "pl::gather":
        return None
    source = call.tensor("input")
    rank = len(source.shape)
    if rank not in (3, 4) or source.shape[0] != 1 or source.constant is not None:
        return None
    shifts = {rank - 3: 0, rank - 2: 0}
    for dim, given in zip(call.integers("dims"), call.tensors("indices"), strict=True):
        index = given.constant
        if dim not in shifts or dim == 0 or index is None:
            return None
        times = index.size // source.shape[dim]
        if times < 1 or times & (times - 1) or times * source.shape[dim] != index.size:
            return None
        if not np.array_equal(index, np.arange(index.size) // times):
            return None
        shifts[dim] = times.bit_length() - 1
    return _Upsampled(source, shifts[rank - 3], shifts[rank - 2])


def _without_unread(program: PlanProgram, calls: list[OpCall]) -> Iterator[OpCall]:
    """Return the calls, without calls that have no readers left."""
    read = {port.value.name for port in program.outputs}
    read |= {value.name for state in program.states for value in (state.value, state.new)}
    before = {value.name for call in program.calls for value in _activations(call)}
    kept = []
    for call in reversed(calls):
        names = {value.name for value in call.outputs}
        if names & read or not names & before:
            kept.append(call)
            read |= {value.name for value in _activations(call)}
    return reversed(kept)
