# SPDX-License-Identifier: Apache-2.0
"""Errors of lowering: what was wrong, where in the user's model, what to do."""

from __future__ import annotations

import operator
import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from aot.upstream.torch import HigherOrderOperator

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s*([^\n]*)')
_NOT_THE_USERS = (
    "/torch/",
    "/torchao/",
    "/executorch/",
    "/aot/accept/constant_masks.py",
    "/aot/accept/data_followed.py",
    "/aot/accept/inputs.py",
    "/aot/quantizer/training.py",
)
_LINE = 120
"""Of longer lines of code the beginning is shown."""
_MADE = "<eval_with_key>"  # what torch generates, such as of torch.cond


def source_line(node: torch.fx.Node) -> str:
    """The innermost line of the user's own code behind a node: "file.py:12 in forward: x =
    self.conv(x)"; "" if unknown.
    """
    return _innermost(_FRAME.findall(node.meta.get("stack_trace") or ""))


def raising_line(error: BaseException) -> str:
    """The same for an error that a module's forward raised."""
    frames = traceback.extract_tb(error.__traceback__)
    forward = [i for i, f in enumerate(frames) if f.name == "forward"][:1]
    inside = frames[forward[0] :] if forward else []
    return _innermost([(f.filename, str(f.lineno), f.name, f.line or "") for f in inside])


def calling_line() -> str:
    """The same for the code that has called the caller."""
    frames = traceback.extract_stack()[:-2]
    return _innermost([(f.filename, str(f.lineno), f.name, f.line or "") for f in frames])


def raising_module(error: BaseException, model: torch.nn.Module) -> str:
    """The module of a model whose forward raised an error: "features.2.0 (Conv2d)"; "" where it is
    the model's own, or unknown.
    """
    paths = {module: path for path, module in model.named_modules() if path}
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = frame.f_locals.get("self")
        if isinstance(module, torch.nn.Module) and module in paths:
            return f"{paths[module]} ({type(module).__name__})"
    return ""


def _innermost(frames: Sequence[tuple[str, str, str, str]]) -> str:
    """Of frames, the last that is no library's: path, line, function and code."""
    own = [f for f in frames if not any(part in f[0] for part in _NOT_THE_USERS)]
    own = [f for f in own if not f[0].startswith(_MADE)]
    if not own:
        return ""
    path, line, function, code = own[-1]
    code = code.strip()
    shown = code if len(code) <= _LINE else f"{code[: _LINE - 3]}..."
    return f"{path.rsplit('/', 1)[-1]}:{line} in {function}: {shown}"


def written_as(node: torch.fx.Node) -> str:
    """The function or method of torch that the user called and export made a node of, e.g.
    "scaled_dot_product_attention"; "" where it is the node's own op, or unknown.
    """
    _, name = node.meta.get("torch_fn") or ("", "")
    name = name.rsplit(".", 1)[-1]
    packet = str(node.target).split(".")[1:2]
    if name in _OPERATORS:
        return "" if packet == [_OPERATORS[name][0]] else _OPERATORS[name][1]
    if name == "wrap_with_autocast":
        return "autocast"
    if isinstance(node.target, HigherOrderOperator):
        return ""
    return "" if name.startswith("__") or [name] == packet else name


_LISTED = 4
"""So many equal items are listed one by one."""

_NO_GRADIENT = re.compile("does not require grad|functorch tensor")

WRITTEN_OUT = "write the derivative out: 2 * x for the gradient of (x**2).sum()"
"""What to do with a gradient."""

# What they become, and how they are written.
_OPERATORS = {
    "__and__": ("bitwise_and", "&"),
    "__invert__": ("bitwise_not", "~"),
    "__or__": ("bitwise_or", "|"),
    "__xor__": ("bitwise_xor", "^"),
}
_NAMES = "function_names"


def function_names(node: torch.fx.Node) -> frozenset[str]:
    """What users may call a node: the function as they wrote it, torch's op, the value's name in
    reports.
    """
    if _NAMES in node.meta:
        kept: frozenset[str] = node.meta[_NAMES]
        return kept
    call = node.args[0] if node.target is operator.getitem else node
    assert isinstance(call, torch.fx.Node)
    packet = str(call.target).split(".")[1:2]
    functions = {name.rstrip("_") for name in (written_as(call), *packet)}
    return frozenset(functions | {node.name}) - {""}


def keep_names(node: torch.fx.Node) -> None:
    """Has what is made with a copy of a node's meta be called as the node is."""
    node.meta[_NAMES] = function_names(node)


def module_path(node: torch.fx.Node) -> str:
    """The module of the user's model that a node belongs to: "features.2.0 (Conv2d)"; "" where it
    is the model's own forward, or unknown.
    """
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack or not stack[-1][0]:
        return ""
    path, kind = stack[-1]
    name = kind.__name__ if isinstance(kind, type) else str(kind).rsplit(".", 1)[-1]
    return f"{path} ({name})"


def place(module: str, source: str) -> str:
    """Module path and line for a message, "" if both are unknown."""
    return ", ".join(part for part in (module, source) if part)


def place_of(node: torch.fx.Node) -> str:
    """Module path and line of an op of the ATen graph, "" if both are unknown."""
    return place(module_path(node), source_line(node))


@dataclass(frozen=True)
class Problem:
    """One op that cannot be lowered.

    Attributes:
      op: e.g. "aten.cumsum.default", "scaled_dot_product_attention (aten.bmm.default)".
      shape: of its output, with dtype, e.g. "float32[1, 8]".
      where: module and line of the model, "" if unknown.
      reason: why it cannot be lowered.
      hint: the nearest supported form, "" if none.
    """

    op: str
    shape: str
    where: str
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        lines = [f"{self.op} -> {self.shape}: {self.reason}"]
        if self.where:
            lines.append(f"    at {self.where}")
        if self.hint:
            lines.append(f"    instead: {self.hint}")
        return "\n".join(lines)


def problem_at(node: torch.fx.Node, reason: str, hint: str) -> Problem:
    """What is wrong with an op of the ATen graph, in the user's own words where they are known."""
    return Problem(op_name(node), describe(node.meta.get("val")), place_of(node), reason, hint)


def op_name(node: torch.fx.Node) -> str:
    """The op, after the function that the user called: "softmax (aten._softmax.default)"."""
    call = node.args[0] if node.target is operator.getitem else node
    assert isinstance(call, torch.fx.Node)
    written = written_as(call)
    return f"{written} ({call.target})" if written else str(call.target)


def node_of(error: BaseException) -> torch.fx.Node | None:
    """The op that code was at when it raised an error, from the innermost frame with one."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        names = frame.f_locals
        for node in (names.get("node"), names.get("n"), *names.values()):
            if isinstance(node, torch.fx.Node) and node.op.startswith("call_"):
                return node
    return None


NO_FIXED_SHAPE = "its shape depends on values, and memory is planned ahead of time"
GIVE_SIZES = (
    "use sizes that are numbers (repeat_interleave: output_size), constant indices, or a mask to "
    "multiply by, (x > 0).to(x.dtype)"
)
"""What to do about it."""


class LoweringError(Exception):
    """The model, its inputs or its calibration data cannot be lowered; the text says why and what
    to do.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([message, *(f"  {p}" for p in self.problems)]))


LIBRARIES = ("/lib/python3", "<frozen ")
"""Parts of the paths of what Python and pip install."""


def raised(error: Exception) -> str:
    """What a user's own code raised, and where: "KeyError (npu.py:12): 'weight'"."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not any(part in f.filename for part in LIBRARIES)] or frames
    where = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    if isinstance(error, SyntaxError):  # it says its own
        where = ""
    return f"{type(error).__name__}{where}: {error}"


def takes_gradient(error: Exception) -> bool:
    """Whether it is of a gradient, which is there for neither export nor inference."""
    return _NO_GRADIENT.search(str(error)) is not None


def describe(value: object) -> str:
    """ "float32[1, 8]" of a tensor (real or fake), a tuple of them, or another value's type."""
    if isinstance(value, np.ndarray):
        return f"numpy {value.dtype}{list(value.shape)}"
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        items = [describe(v) for v in value]
        if len(items) > _LISTED and len({*items}) == 1:
            return f"({len(items)} x {items[0]})"
        return "(" + ", ".join(items) + ")"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return type(value).__name__
