# SPDX-License-Identifier: Apache-2.0
"""Settings by layer: one value for the whole model, or a mapping from names of modules and
functions.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from torch.fx import GraphModule, Node

from aot.errors import LoweringError, describe, function_names

DEFAULT = "default"


class ByLayer:
    """A setting: a value for the whole model, and values for layers by name or pattern.

    A pattern ("head", "layers.3.*") matches a module's path in the user's model, and with it
    everything inside. After a colon it matches functions in such modules, by the user's name or by
    the value's name in reports ("head:softmax", "*:add_1"). With nothing before the colon it
    matches those of the model's own forward. If several patterns match, the last one wins.

    Args:
      what: the setting, for errors.
      given: the value, or values by pattern, with the model's under "default".
      default: the model's if `given` has none.
      choices: the valid values.
      modules: the paths of the user's modules, with their types; some may have no ops
        left.

    Raises:
      LoweringError: there is no such value.
    """

    def __init__(
        self,
        what: str,
        given: str | Mapping[str, str],
        default: str,
        choices: Sequence[str],
        modules: Mapping[str, str],
    ) -> None:
        if not isinstance(given, str | Mapping):
            raise LoweringError(
                f"{what} is {_kind(given)}: give one text for the whole model, or a dict "
                f'by layer, {{"{DEFAULT}": "{default}", "layers.3": "{choices[-1]}"}}'
            )
        values = {DEFAULT: given} if isinstance(given, str) else {DEFAULT: default, **given}
        for pattern in values:
            if not isinstance(pattern, str):
                raise LoweringError(
                    f"{what} has the key {pattern!r:.60}; a key must be a layer's name or a "
                    'pattern, such as "layers.3" or "layers.*.conv"'
                )
        for pattern, value in values.items():
            if value not in choices:
                of = "" if pattern == DEFAULT else f", of {pattern!r}"
                raise LoweringError(
                    f"{what} {value!r}{of} does not exist. Choices: {', '.join(choices)}"
                )
        self.default = values.pop(DEFAULT)
        self._what = what
        self._modules = modules
        self._patterns = values

    def of(self, node: Node) -> str:
        """Return the setting of a node of the ATen graph."""
        found = [value for pattern, value in self._patterns.items() if _is_named(node, pattern)]
        return found[-1] if found else self.default

    def nodes(self, module: GraphModule, value: str) -> Iterator[tuple[str, list[Node]]]:
        """Yield each pattern with this value, and the nodes that it applies to."""
        calls = [node for node in module.graph.nodes if node.op == "call_function"]
        for pattern, asked in self._patterns.items():
            if asked == value:
                yield pattern, [n for n in calls if _is_named(n, pattern) and self.of(n) == value]

    def check(self, module: GraphModule) -> None:
        """Raise LoweringError if a pattern matches no layer; the text has similar names."""
        calls = [node for node in module.graph.nodes if node.op == "call_function"]
        layers = {path for node in calls for path in _paths(node)}
        functions = {f"{_path(node)}:{name}" for node in calls for name in function_names(node)}
        for pattern in self._patterns:
            self._check_counts(pattern, calls)
            is_function = ":" in pattern
            if any(_is_named(n, pattern) for n in calls) or any(
                _matches(path, pattern) for path in layers
            ):
                continue
            beside = {name for name in functions if name.rpartition(":")[2] == pattern}
            known = functions if is_function else layers | beside
            near = [*sorted(beside)[:1], *difflib.get_close_matches(pattern, known, cutoff=0.0)]
            instead = f"; the nearest are {', '.join(dict.fromkeys(near))}" if near else ""
            what = "function" if is_function else "layer"
            gone = [kind for path, kind in self._modules.items() if _matches(path, pattern)]
            why = (
                f": no op is left of that {gone[0]}, which is part of another layer's, or does "
                "nothing on the device"
                if gone
                else ""
            )
            raise LoweringError(f"{self._what}: {pattern!r} matches no {what}{why}{instead}")

    def _check_counts(self, pattern: str, calls: Iterable[Node]) -> None:
        """Raise LoweringError if later patterns override all matches of a pattern."""
        matched = [node for node in calls if _is_named(node, pattern)]
        if not matched or any(self.of(node) == self._patterns[pattern] for node in matched):
            return
        later = [*self._patterns][[*self._patterns].index(pattern) + 1 :]
        over = [p for p in later if any(_is_named(node, p) for node in matched)]
        raise LoweringError(
            f"{self._what}: {pattern!r} has no effect: {', '.join(map(repr, over))}, later in the "
            "dict, matches the same layers. The last match counts, so put wider patterns first"
        )


def _kind(given: object) -> str:
    return describe(given) if isinstance(given, type) else type(given).__name__


def _paths(node: Node) -> list[str]:
    """Return the paths of the modules around a node, the innermost last, without the model."""
    stack: Iterable[tuple[str, object]] = (node.meta.get("nn_module_stack") or {}).values()
    return [path for path, _ in stack if path]


def _path(node: Node) -> str:
    """Return the path of the innermost module; "" for the model's own forward."""
    return [*_paths(node)[-1:], ""][0]


def _is_named(node: Node, pattern: str) -> bool:
    layer, colon, function = pattern.partition(":")
    if not colon:
        return _matches(_path(node), pattern)
    is_inside = _matches(_path(node), layer) or fnmatchcase(_path(node), layer)
    return is_inside and any(fnmatchcase(name, function) for name in function_names(node))


def _matches(path: str, pattern: str) -> bool:
    """Return True if a pattern matches a path, or a part of it that ends before a dot."""
    parts = path.split(".") if path else []
    return any(fnmatchcase(".".join(parts[:n]), pattern) for n in range(1, len(parts) + 1))
