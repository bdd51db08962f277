# SPDX-License-Identifier: Apache-2.0
"""The user's quantization settings, by layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from torch.fx import GraphModule, Node

from aot.errors import LoweringError
from aot.quantizer.by_layer import ByLayer
from aot.quantizer.observers import OBSERVERS

INT8, INT16, FLOAT = "int8", "int16", "float32"
INT4, INT4_GROUPS = "int8w4", "int8w4g32"
FOUR_BITS = INT4, INT4_GROUPS
_OBSERVER = "histogram"  # the default


@dataclass(frozen=True)
class Recipe:
    """Quantization settings of layers.

    Attributes:
      quantization: "int8", "int16", "float32"; or "int8w4", "int8w4g32", weights of four
        bits with a scale for each output channel, or for each 32 input channels of it;
        by layer.
      observer: of activations, by layer; names of `OBSERVERS`.
      training: fake quantizers replace observers.
    """

    quantization: ByLayer
    observer: ByLayer
    training: bool = False

    @classmethod
    def of(
        cls,
        quantization: str | Mapping[str, str] = INT8,
        observer: str | Mapping[str, str] = _OBSERVER,
        training: bool = False,
        modules: Mapping[str, str] = MappingProxyType({}),
    ) -> Recipe:
        """Return a recipe from the arguments of `lower`. Types of the user's modules by path are
        for error texts.

        Raises:
          LoweringError: there is no such setting, or none for training.
        """
        by_layer = ByLayer(
            "quantization", quantization, INT8, (INT8, INT16, INT4, INT4_GROUPS, FLOAT), modules
        )
        asked = (quantization,) if isinstance(quantization, str) else quantization.values()
        if training and INT4_GROUPS in asked:
            raise LoweringError(f"{INT4_GROUPS} cannot be trained; {INT4} can")
        if training and observer != _OBSERVER:
            raise LoweringError(
                f"observer is {observer}, but training uses moving averages of its own. Remove "
                "observer"
            )
        observers = ByLayer("observer", observer, _OBSERVER, tuple(OBSERVERS), modules)
        return cls(by_layer, observers, training)

    def check(self, module: GraphModule) -> None:
        """Raise LoweringError if a pattern matches no layer of a graph."""
        self.quantization.check(module)
        self.observer.check(module)

    def check_effect(self, module: GraphModule, theirs: set[Node], weighed: set[Node]) -> None:
        """Raise LoweringError if no layer that matches a pattern supports its setting.

        Args:
          module: the graph.
          theirs: nodes annotated by another quantizer.
          weighed: nodes with weights and with a request for weights of four bits.
        """
        for kind in (INT16, FLOAT, *FOUR_BITS):
            for pattern, nodes in self.quantization.nodes(module, kind):
                if nodes and theirs.issuperset(nodes):
                    why = "another quantizer has annotated all that it matches"
                elif kind in FOUR_BITS and weighed.isdisjoint(nodes):
                    why = "nothing that it matches has weights of a linear layer or a convolution"
                else:
                    continue
                raise LoweringError(f"quantization: {pattern!r} cannot be {kind}: {why}")
