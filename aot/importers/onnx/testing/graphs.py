# SPDX-License-Identifier: Apache-2.0
"""Small .onnx files for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]


def values(*shape: int, seed: int = 0) -> Array:
    """Return random float32 values, always the same ones."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def file(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[Any, ...] | list[Any]],
    outputs: Sequence[str],
    constants: Mapping[str, Array],
    opset: int = 17,
    kind: int = TensorProto.FLOAT,
) -> bytes:
    """Return the bytes of a file.

    Args:
      nodes: in order.
      inputs: shapes by name.
      outputs: names; their types follow from the nodes.
      constants: by name.
      opset: version of the standard operators.
      kind: type of the inputs.
    """
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(n, kind, shape) for n, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())


@dataclass(frozen=True)
class GraphCase:
    """One node.

    Attributes:
      operator: its name.
      inputs: an array for a computed input, with its values; a list [array] for a constant; None
        for an omitted one.
      attributes: of the node.
      opset: version of the standard operators.
      outputs: number of results.
    """

    operator: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 17
    outputs: int = 1

    @property
    def feeds(self) -> dict[str, Array]:
        """Return the computed inputs by name."""
        return {f"x{i}": v for i, v in enumerate(self.inputs) if isinstance(v, np.ndarray)}

    def bytes(self) -> bytes:
        """Return the file with this node."""
        names, constants = [], {}
        for index, value in enumerate(self.inputs):
            names.append("" if value is None else f"x{index}")
            if isinstance(value, list):
                constants[f"x{index}"] = value[0]
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.operator, names, results, "node", **self.attributes)
        kinds = {helper.np_dtype_to_tensor_dtype(v.dtype) for v in self.feeds.values()}
        shapes = {name: value.shape for name, value in self.feeds.items()}
        return file([node], shapes, results, constants, self.opset, kinds.pop())
