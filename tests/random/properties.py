# SPDX-License-Identifier: Apache-2.0
"""Properties of every model that lowers, checked on several at once: they are lowered as one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from aot.artefact.vectors import in_memory_order
from aot.dialect.graph import border_nodes, edge_of, tensor_constant
from aot.dialect.reference import fit_inputs
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Io, Measure, Quantize
from aot.passes.rewrite.io_layouts import AUTO, KEEP, TO_NHWC_BORDER
from aot.plan.program import PlanProgram
from aot.plan.pte import read_program
from aot.testing.lockstep import LARGEST, compare
from kernels.common.kernel import AnyArray, Value
from tests.random.bounds import bounds
from tests.random.graphs import Graph
from tests.random.on_host import Host

Sample = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Options:
    """Options of lowering."""

    float_io: bool = False
    io_layout: str = KEEP


OPTIONS = (
    Options(),
    Options(float_io=True, io_layout=AUTO),
    Options(io_layout=TO_NHWC_BORDER),
)


class Bundle(nn.Module):
    """Runs every graph on its own inputs; its results follow in the order of the graphs."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        super().__init__()
        self.graphs = tuple(graphs)
        self.parts = nn.ModuleList(graph.module() for graph in graphs)
        self.eval()

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results: list[torch.Tensor] = []
        rest = list(inputs)
        for graph, part in zip(self.graphs, self.parts, strict=True):
            count = len(graph.shapes)
            result = part(*rest[:count])
            results += [result] if isinstance(result, torch.Tensor) else result
            del rest[:count]
        return tuple(results)

    def quantization(self) -> dict[str, str]:
        """Return the quantization of every graph, by the paths of its layers."""
        return {
            f"parts.{index}.{name}".removesuffix("."): setting
            for index, graph in enumerate(self.graphs)
            for name, setting in graph.quantization
        }

    def samples(self, seed: int = 0, spread: float = 1.0) -> list[Sample]:
        columns = zip(*(graph.samples(seed, spread) for graph in self.graphs), strict=True)
        return [tuple(x for sample in column for x in sample) for column in columns]


def lowered(
    graphs: Sequence[Graph], options: Options, refused: Counter[str]
) -> Iterator[tuple[Bundle, Lowered]]:
    """Lower graphs together. If one is refused, lower the halves, and so on.

    Args:
      graphs: random models.
      options: of lowering.
      refused: counts the messages for graphs refused alone.
    """
    bundle = Bundle(graphs)
    samples = bundle.samples()
    example = tuple(x.clone(memory_format=torch.preserve_format) for x in samples[0])
    try:
        found = lower(
            bundle,
            example,
            calibration=samples,
            quantize=Quantize(quantization=bundle.quantization()),
            io=Io(float_io=options.float_io, io_layout=options.io_layout),
            measure=Measure(min_sqnr=-math.inf, min_agreement=0.0, per_op=False),
        )
    except LoweringError as error:
        if len(graphs) == 1:
            refused[str(error)] += 1
            return
        half = len(graphs) // 2
        yield from lowered(graphs[:half], options, refused)
        yield from lowered(graphs[half:], options, refused)
    else:
        yield bundle, found


def _floats(bundle: Bundle) -> list[Sample]:
    """Return samples of the calibration, others, and others that saturate."""
    return [*bundle.samples()[:2], *bundle.samples(1)[:2], *bundle.samples(2, 3.0)[:1]]


def check_float(bundle: Bundle, lowered: Lowered) -> None:
    """Raise AssertionError if the reference is farther from the float model than its
    scales allow.
    """
    for sample in _floats(bundle):
        results = lowered.reference(lowered.moved.taken(sample))
        actual = lowered.moved.given(lowered.dequantize_outputs(results))
        with torch.no_grad():
            expected = bundle(*(x.clone() for x in sample))
        found = bounds(lowered.quantized, [x.contiguous() for x in sample])
        for i, (bound, a, e) in enumerate(zip(found, actual, expected, strict=True)):
            assert a.shape == e.shape, f"output {i} is {a.shape}, the model's is {e.shape}"
            if bound.error is None:
                continue
            for what, x in (("the reference", a), ("the float model", e)):
                too_far = (x.float() - bound.value.float()).abs() > bound.error
                assert not bool(too_far.any()), (
                    f"output {i}: {what} is {x[too_far][:4]}, it may be "
                    f"{bound.error[too_far][:4]} away from {bound.value[too_far][:4]}"
                )


def check_every_op(bundle: Bundle, lowered: Lowered) -> None:
    """Raise AssertionError if an op is more than one step from the float op, on its own inputs.

    An op with larger steps in its states or its table may differ by more.
    """
    allowed = {**LARGEST, "lut int16": _between_entries(lowered)}
    for op, difference in compare(lowered, _floats(bundle)).by_op.items():
        largest = allowed.get(op, 1)
        assert difference.largest <= largest, f"{op} is {difference.largest} steps away"


def _between_entries(lowered: Lowered) -> int:
    """Return the largest distance of an int16 function from linear interpolation of its table.

    It may have a corner or a jump between entries. Next to a jump it continues smoothly.
    """
    luts = lowered.folded.graph.find_nodes(op="call_function", target=torch.ops.pl.lut.default)
    tables = [tensor_constant(lowered.folded, node.args[1]) for node in luts]
    rises = [int(t.int().diff().abs().max()) for t in tables if t is not None and len(t) > 256]
    return 1 + 3 * max(rises, default=0)


def check_layout(bundle: Bundle, lowered: Lowered) -> None:
    """Raise AssertionError if the passes that assign layouts change a bit."""
    placeholders, _ = border_nodes(lowered.folded)
    for sample in _floats(bundle):
        before = lowered.folded(*fit_inputs([x.contiguous() for x in sample], placeholders))
        after = lowered.moved.given(lowered.reference(lowered.moved.taken(sample)))
        for i, (a, b) in enumerate(zip(after, before, strict=True)):
            assert torch.equal(a, b), f"output {i} is not what it was before the layout passes"


def check_pte(bundle: Bundle, lowered: Lowered) -> None:
    """Check that the artefact, read back, gives the reference's bits and its inputs and outputs.

    Float ops are ExecuTorch's, and have no reference here.
    """
    program = read_program(lowered.pte)
    inputs, outputs = border_nodes(lowered.module)
    for port, node in zip(program.outputs, outputs, strict=True):
        assert (port.scale, port.zero_point) == (edge_of(node).scale, edge_of(node).zero_point)
    if lowered.report["float_ops"]:
        return
    for sample in _floats(bundle):
        given = lowered.moved.taken(sample)
        quantized = zip(lowered.quantize_inputs(given), inputs, strict=True)
        actual = run_program(program, [in_memory_order(*pair) for pair in quantized])
        references = zip(lowered.reference(given), outputs, strict=True)
        for i, (a, pair) in enumerate(zip(actual, references, strict=True)):
            expected = in_memory_order(*pair)
            same = a.dtype == expected.dtype and np.array_equal(a, expected)
            assert same, f"output {i} of the .pte is not the reference's"


def run_program(program: PlanProgram, inputs: Sequence[AnyArray]) -> list[AnyArray]:
    """Return a decoded artefact by the dialect's reference; tensors as they lie in memory."""
    known = {
        port.value.name: torch.from_numpy(x) for port, x in zip(program.inputs, inputs, strict=True)
    }

    def tensor(argument: object) -> object:
        if isinstance(argument, list | tuple):
            return [tensor(a) for a in argument]
        if not isinstance(argument, Value):
            return argument
        if argument.constant is not None:
            return torch.from_numpy(np.array(argument.constant))
        return known[argument.name].reshape(argument.shape)

    for call in program.calls:
        namespace, name = call.op.split("::")
        assert namespace == "pl", call.op
        results = getattr(torch.ops.pl, name)(**{k: tensor(a) for k, a in call.args.items()})
        for value, result in zip(
            call.outputs, [results] if isinstance(results, torch.Tensor) else results, strict=True
        ):
            known[value.name] = result
    return [known[port.value.name].numpy() for port in program.outputs]


def check(graphs: Sequence[Graph], options: Options, host: Host, refused: Counter[str]) -> None:
    """Check all properties, and count the refusals.

    Raises:
      AssertionError: one of them does not hold.
    """
    for bundle, result in lowered(graphs, options, refused):
        check_layout(bundle, result)
        check_pte(bundle, result)
        check_every_op(bundle, result)
        check_float(bundle, result)
        host.check(result, _floats(bundle))


def failures(
    models: Sequence[Graph], options: Options, host: Host, refused: Counter[str]
) -> list[str]:
    """Return the failures, each with its model.

    The models are lowered together. After a failure the halves are tried, and so on.

    Args:
      models: to try.
      options: of lowering.
      host: runs them.
      refused: counts the messages for models refused alone.
    """
    try:
        check(models, options, host, refused)
    except Exception as error:  # whatever a wrong model provokes
        if len(models) == 1:
            return [f"{models[0]!r}# {options}\n# {type(error).__name__}: {error}"]
        half = len(models) // 2
        found = failures(models[:half], options, host, Counter())
        return found + failures(models[half:], options, host, Counter())
    return []
