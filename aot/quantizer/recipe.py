# SPDX-License-Identifier: Apache-2.0
"""How layers are quantized: what users ask of `lower`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch.fx import GraphModule

from aot.quantizer.by_layer import ByLayer
from aot.quantizer.observers import OBSERVERS

INT8, FLOAT = "int8", "float32"


@dataclass(frozen=True)
class Recipe:
    """How layers are quantized.

    Attributes:
      quantization: "int8" or "float32", by layer.
      observer: of activations, by layer; names of `OBSERVERS`.
      training: fake quantizers stand where observers would.
    """

    quantization: ByLayer
    observer: ByLayer
    training: bool = False

    @classmethod
    def of(
        cls,
        quantization: str | Mapping[str, str] = INT8,
        observer: str | Mapping[str, str] = "histogram",
        training: bool = False,
    ) -> Recipe:
        """From what `lower` takes.

        Raises:
          LoweringError: there is no such setting.
        """
        return cls(
            ByLayer("quantization", quantization, INT8, (INT8, FLOAT)),
            ByLayer("observer", observer, "histogram", tuple(OBSERVERS)),
            training,
        )

    def check(self, module: GraphModule) -> None:
        """Raises LoweringError where a pattern matches no layer of a graph."""
        self.quantization.check(module)
        self.observer.check(module)
