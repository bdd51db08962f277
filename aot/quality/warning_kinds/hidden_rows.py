# SPDX-License-Identifier: Apache-2.0
"""Warning about rows of attention scores that a mask hides completely.

Lowering returns 0 for them. A model that fills with minus infinity has NaN there, or zeros in
torch's own attention. A model that fills with a large negative number has meaningless weights
there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state, tensor_constant
from aot.errors import module_path, source_line
from aot.quality.finding import Finding
from aot.quality.sampling import some_of
from aot.quality.subject import Subject
from aot.quality.values import RANGED
from aot.rules.masked_softmax import MASKED_SOFTMAX
from aot.upstream.torch import tree_leaves

_OFF = 1e-2
"""Share of an output's largest element. A difference this large is no float32 rounding."""


def find(subject: Subject) -> list[Finding]:
    """Return a finding for softmaxes with such rows, if results for them differ from float."""
    floats, float_model = subject.floats, subject.float_model
    hidden = _Hidden(floats)
    state = initial_state(floats)
    is_off = False
    samples = some_of(subject.samples, RANGED, bool(state)) if hidden.rows else ()
    for starts, inputs in samples:
        if starts:
            float_model.reset()
            state = initial_state(floats)
        with torch.no_grad():
            given = hidden.run(*(x.contiguous() for x in inputs), *state)
        results = [x for x in tree_leaves(given) if isinstance(x, torch.Tensor)]
        state = tuple(results[len(results) - len(state) :])
        is_off |= any(map(differ, float_model(inputs), results))
    return [
        Finding(
            "hidden_rows",
            node.name,
            module_path(node),
            source_line(node),
            f"a mask hides {count} whole rows of the softmax `{node.name}` on {given}. The "
            "device gives them 0, the model another value. Keep an element of each row in the "
            "mask, or fill with minus infinity and set the result to 0",
        )
        for node, count in hidden.rows.items()
        if count and is_off
    ]


class _Hidden(Interpreter):
    """Interpreter of the float graph. It counts hidden rows.

    Attributes:
      rows: number of entirely hidden rows, for each softmax with an unknown mask.
    """

    def __init__(self, floats: GraphModule) -> None:
        super().__init__(floats)
        self.rows = {
            node: 0
            for node in floats.graph.nodes
            if node.target is MASKED_SOFTMAX and tensor_constant(floats, node.args[1]) is None
        }

    def run_node(self, n: Node) -> Any:
        if n in self.rows:
            scores, mask = self.fetch_args_kwargs_from_env(n)[0]
            kept = mask.expand(scores.shape).any(-1)
            self.rows[n] += kept.numel() - int(kept.sum())
        return super().run_node(n)


def differ(expected: torch.Tensor, actual: torch.Tensor) -> bool:
    """Return True if two results differ where both are finite."""
    if not expected.is_floating_point():
        return not torch.equal(expected, actual)
    apart = (actual - expected).abs()
    apart = apart[apart.isfinite()]
    largest = expected[expected.isfinite()].abs()
    return bool(apart.numel() and apart.max() > _OFF * largest.max())
