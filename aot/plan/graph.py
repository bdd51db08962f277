# SPDX-License-Identifier: Apache-2.0
"""Converts operator calls to kernel calls, and finds aliases.

A reshape, a transpose moving nothing and a contiguous slice are no kernel calls. Their result is an
*alias*, a piece of the source's bytes. Constants reached through aliases stay constants. Inputs of
a delegate must be aligned: an unaligned piece is copied.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aot.plan.delegate_call import delegate_of
from aot.plan.delegates import delegate_kernel
from aot.plan.program import PlanProgram, is_row_major
from kernels.common.kernel import (
    Array,
    Constant,
    Isa,
    KernelCall,
    KernelError,
    OpCall,
    Planner,
    Value,
)
from kernels.common.tensor import DTYPES
from kernels.registry import kernel_call

if TYPE_CHECKING:
    from aot.plan.row_group import RowGroup


@dataclass(frozen=True, eq=False)
class Step:
    """One kernel call; with `rows`, several calls that run row by row.

    Its `reads` and `writes` are the activations among its operands. Its `alignment` is for the
    scratch memory. The flag `is_fallback` marks a fallback call (KernelCall.fallback) with more
    instructions.
    """

    op: OpCall
    kernel: KernelCall
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]
    alignment: int = 1
    rows: "RowGroup | None" = None
    is_fallback: bool = False


@dataclass(frozen=True)
class Alias:
    """`result` aliases `source` at `offset` bytes; both are tensor names."""

    result: str
    source: str
    offset: int


@dataclass(frozen=True, eq=False)
class Graph:
    """Kernel calls in order, and their tensors.

    Attributes:
      program: its source.
      steps: the remaining calls.
      aliases: the removed calls, in order.
      activations: every tensor needing memory, by name.
      alignments: in bytes, of activations with more than the alignment of their elements.
      constants: tensors known at build time and reached through an alias, by name.
      streamed: the program's input, if a step makes it (streaming.py).
    """

    program: PlanProgram
    steps: tuple[Step, ...]
    aliases: tuple[Alias, ...]
    activations: Mapping[str, Value]
    constants: Mapping[str, Value]
    alignments: Mapping[str, int] = field(default_factory=dict)
    streamed: Value | None = None

    @property
    def inputs(self) -> tuple[Value, ...]:
        """Return the activations that exist before the first step."""
        return () if self.streamed else tuple(port.value for port in self.program.inputs)


def build_graph(
    program: PlanProgram, isa: Isa, select: Planner = kernel_call, small: bool = False
) -> Graph:
    """Select a kernel for each call that needs one; size-optimized kernels if `small`.

    Raise KernelError if there is none.
    """
    activations = {port.value.name: port.value for port in program.inputs}
    activations |= {state.value.name: state.value for state in program.states}
    alignments = _alignments(program)
    constants: dict[str, Value] = {}
    steps: list[Step] = []
    aliases = [Alias(state.new.name, state.value.name, 0) for state in program.states]
    for original in program.calls:
        call = _with_constants(original, constants)
        offset = _aligned_offset(call, alignments)
        if offset is not None:
            source, result = call.tensor("input"), call.output()
            if source.constant is not None:
                constants[result.name] = _constant_piece(source.constant, offset, result)
                continue
            aliases.append(Alias(result.name, source.name, offset))
        else:
            steps.append(_step(replace(call, small=True) if small else call, isa, select))
            for value in steps[-1].reads:
                if value.name not in activations:
                    raise call.error(f"{value.name} is an output that its kernel does not compute")
        written = call.outputs if offset is not None else steps[-1].writes
        activations.update((value.name, value) for value in written)
    _check_state(program, aliases)
    return Graph(program, tuple(steps), tuple(aliases), activations, constants, alignments)


def _alignments(program: PlanProgram) -> dict[str, int]:
    """Return the alignments required by delegates, for their tensors and the sources of these."""
    alignments: dict[str, int] = {}

    def ask(name: str, alignment: int) -> None:
        alignments[name] = max(alignment, alignments.get(name, 1))

    for call in reversed(program.calls):
        delegate = delegate_of(call)
        if delegate is not None:
            for value in (*call.tensors("inputs"), *call.outputs):
                ask(value.name, delegate.needs.alignment)
        elif _aligned_offset(call, alignments) is not None and call.output().name in alignments:
            ask(call.tensor("input").name, alignments[call.output().name])
    return alignments


def _aligned_offset(call: OpCall, alignments: Mapping[str, int]) -> int | None:
    """Return alias_offset; None if the result would be misaligned there."""
    offset = alias_offset(call)
    if offset is None or offset % alignments.get(call.output().name, 1):
        return None
    return offset


def _check_state(program: PlanProgram, aliases: Sequence[Alias]) -> None:
    """Raise KernelError if a state is read after it was overwritten."""
    was = {state.value.name for state in program.states}
    news = {state.new.name for state in program.states}
    for alias in aliases:
        if alias.source in was and alias.result not in news:
            was.add(alias.result)
    last = {port.value.name for port in program.outputs}
    last |= {v.name for c in program.calls if c.output().name in news for v in c.tensors("inputs")}
    if last & was:
        raise KernelError(
            f"{min(last & was)} is state as it was before the run, and is an output or becomes "
            "state: it needs a copy"
        )


def alias_offset(call: OpCall) -> int | None:
    """Return the byte offset at which a result aliases "input"; None if it is no alias.

    These are: a reshape, a transpose keeping the order of all dimensions of more than one element,
    and a slice of the outermost such dimension.
    """
    if call.op not in ("pl::reshape", "pl::transpose", "pl::slice"):
        return None
    source, result = call.tensor("input"), call.output()
    call.require(source.dtype == result.dtype, f"{source.dtype} becomes {result.dtype}")
    if call.op == "pl::slice":
        return _slice_offset(call, source, result)
    call.require(source.size == result.size, f"{list(source.shape)} becomes {list(result.shape)}")
    moves = call.op == "pl::transpose" and not is_row_major(
        source.shape, call.integers("perm", len(source.shape), 0)
    )
    return None if moves else 0


def cat_offsets(call: OpCall) -> list[int] | None:
    """Return each input's byte offset in a concatenation's result; None if inputs interleave."""
    if call.op != "pl::cat":
        return None
    result = call.output()
    inputs = call.tensors("inputs", result.dtype)
    dim = call.integer("dim", 0, len(result.shape) - 1)
    if math.prod(result.shape[:dim]) != 1:
        return None
    ends = np.cumsum([value.bytes for value in inputs]).tolist()
    call.require(ends[-1] == result.bytes, f"{ends[-1]} bytes become {result.bytes}")
    return [0, *ends[:-1]]


def operands(kernel: KernelCall) -> Iterator[Value | Constant]:
    """Yield all operands of the data struct, in order."""
    pending: list[Any] = [kernel.data]
    while pending:
        item = pending.pop(0)
        if isinstance(item, (Value, Constant)):
            yield item
        elif isinstance(item, Array):
            pending[:0] = item.items
        elif isinstance(item, tuple):
            pending[:0] = item
        elif isinstance(item, Mapping):
            pending[:0] = item.values()


def _slice_offset(call: OpCall, source: Value, result: Value) -> int | None:
    dim = call.integer("dim", 0, len(source.shape) - 1)
    start = call.integer("start", 0, source.shape[dim] - 1)
    end = call.integer("end", start + 1, source.shape[dim])
    step = call.integer("step", 1)
    count = -(-(end - start) // step)
    call.require(
        result.shape == (*source.shape[:dim], count, *source.shape[dim + 1 :]),
        f"[{start}:{end}:{step}] of {list(source.shape)} becomes {list(result.shape)}",
    )
    if math.prod(source.shape[:dim]) != 1 or (step != 1 and count != 1):
        return None
    return start * math.prod(source.shape[dim + 1 :]) * DTYPES[source.dtype].bytes


def _constant_piece(source: np.ndarray[Any, Any], offset: int, result: Value) -> Value:
    start = offset // DTYPES[result.dtype].bytes
    piece = source.reshape(-1)[start : start + result.size].reshape(result.shape)
    return replace(result, constant=piece)


def _with_constants(call: OpCall, constants: Mapping[str, Value]) -> OpCall:
    """Return the call with tensors replaced by constants where known."""

    def known(argument: Any) -> Any:
        if isinstance(argument, Value):
            return constants.get(argument.name, argument)
        if isinstance(argument, list):
            return [known(item) for item in argument]
        return argument

    return replace(call, args={name: known(argument) for name, argument in call.args.items()})


def _step(call: OpCall, isa: Isa, select: Planner) -> Step:
    delegate = delegate_of(call)
    kernel = select(call, isa) if delegate is None else delegate_kernel(call, delegate)
    kernel = _of_all_operands(kernel)
    outputs = {value.name for value in call.outputs}
    reads: dict[str, Value] = {}
    writes: dict[str, Value] = {}
    for operand in operands(kernel):
        if isinstance(operand, Value) and operand.constant is None:
            (writes if operand.name in outputs else reads)[operand.name] = operand
    alignment = 1 if delegate is None else delegate.needs.alignment
    return Step(call, kernel, tuple(reads.values()), tuple(writes.values()), alignment)


def _of_all_operands(kernel: KernelCall) -> KernelCall:
    """Remove alias permissions of a tensor that is used as two operands.

    The kernel permits overwriting for one operand only. An example is `x.scatter(0, indices, x)`:
    the second operand would be read after it was overwritten.
    """
    times = Counter(v.name for v in operands(kernel) if isinstance(v, Value))
    said = Counter(kernel.in_place), Counter((o.source, o.result) for o in kernel.overlap)
    return replace(
        kernel,
        in_place=tuple(p for p in kernel.in_place if said[0][p] >= times[p[0]]),
        overlap=tuple(o for o in kernel.overlap if said[1][o.source, o.result] >= times[o.source]),
        fallback=None if kernel.fallback is None else _of_all_operands(kernel.fallback),
    )
