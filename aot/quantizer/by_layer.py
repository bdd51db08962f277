# SPDX-License-Identifier: Apache-2.0
"""Settings of lowering by layer: one for the whole model, or a mapping from names of modules."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from torch.fx import GraphModule, Node

from aot.errors import LoweringError

DEFAULT = "default"


class ByLayer:
    """A setting: what it is of the whole model, and of the layers that a name or pattern matches.

    A pattern ("head", "layers.3.*") matches a module's path in the user's model, and with it
    everything inside; of several that match, the last given counts.

    Args:
      what: the setting, for errors.
      given: the value, or values by pattern, with the model's under "default".
      default: the model's where `given` has none.
      choices: the values that there are.

    Raises:
      LoweringError: there is no such value.
    """

    def __init__(
        self, what: str, given: str | Mapping[str, str], default: str, choices: Sequence[str]
    ) -> None:
        values = {DEFAULT: given} if isinstance(given, str) else {DEFAULT: default, **given}
        for value in values.values():
            if value not in choices:
                raise LoweringError(f"there is no {what} {value!r}; there is: {', '.join(choices)}")
        self.default = values.pop(DEFAULT)
        self._what = what
        self._patterns = values

    def of(self, node: Node) -> str:
        """The setting of a node of the ATen graph."""
        paths = _paths(node)[-1:]
        found = [v for p, v in self._patterns.items() if any(_matches(path, p) for path in paths)]
        return found[-1] if found else self.default

    def check(self, module: GraphModule) -> None:
        """Raises LoweringError where a pattern matches no layer, with the nearest names."""
        layers = sorted({path for node in module.graph.nodes for path in _paths(node)})
        for pattern in self._patterns:
            if not any(_matches(path, pattern) for path in layers):
                near = difflib.get_close_matches(pattern, layers, cutoff=0.0)
                instead = f"; the nearest are {', '.join(near)}" if near else ""
                raise LoweringError(f"{self._what}: {pattern!r} matches no layer{instead}")


def _paths(node: Node) -> list[str]:
    """Of the modules that a node is in, the innermost last; not the model's own."""
    stack: Iterable[tuple[str, object]] = (node.meta.get("nn_module_stack") or {}).values()
    return [path for path, _ in stack if path]


def _matches(path: str, pattern: str) -> bool:
    parts = path.split(".")
    return any(fnmatchcase(".".join(parts[:n]), pattern) for n in range(1, len(parts) + 1))
