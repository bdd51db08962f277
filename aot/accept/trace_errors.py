# SPDX-License-Identifier: Apache-2.0
"""Explains a failed torch.export in the user's terms, with a replacement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from traceback import extract_tb

import torch
from torch.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound,
)

from aot.errors import (
    GIVE_SIZES,
    NO_FIXED_SHAPE,
    WRITTEN_OUT,
    describe,
    raising_line,
    takes_gradient,
)
from aot.upstream.torch import DataDependentOutputException, DynamicOutputShapeException

_NUMBER = "the model uses a computed value as a Python number"
_LEAVE_OUT = (
    "remove float(), int() and .item() where a tensor with one element broadcasts; for y[i] = v "
    "with a computed i use y.index_copy(0, i.reshape(1), v[None]); for int(x) use x.trunc(); "
    "sizes and loop counts must be constant numbers"
)
_BOTH_WAYS = (
    "compute both branches and combine them by a mask: m * a + (1 - m) * b with m = (condition > "
    "0).to(x.dtype); remove a check that only raises an error"
)
_AS_VALUES = (
    "for torch.equal(a, b) use (a == b).all(); for torch.cov(x) of n columns use d @ d.mT / (n - "
    "1) with d = x - x.mean(1, keepdim=True)"
)
_AS_PADDED = (
    "run on padded sequences, y, _ = rnn(x), and read the end of sequence i with an input n: "
    "y[torch.arange(len(n)), n - 1]"
)
_OTHER_TYPES = re.compile(r"should be the same|same dtype|does not match weight dtype|scalar type")
_CHANNELS = re.compile(r"to have \d+ channels")
_STATIC = "one static graph: no control flow on tensor values, no Python objects in or out"
_ASSERTS = re.compile(r": (assert\b|.*\b_assert\()")
_TAKES_NUMBER = re.compile(r"\b(int|float)\(|\.item\(\)")
_CHOOSES = re.compile(r"\b(if|while|elif|and|or|not|assert)\b|[<>]|[=!]=")
_OF_LOSS = "return the loss function's input as the model's output"
_PACKS = ("/torch/nn/utils/rnn.py", "/torch/nn/modules/rnn.py")
_CHECKS = "/torch/distributions/"
_ADAPTIVE = "/torch/nn/modules/adaptive.py"
_TRANSFORMS = "/torch/_functorch/eager_transforms.py"
_GRADIENTS = re.compile(r"vjp|jvp|grad|jac|hess")
_ASSIGNED = re.compile(r"tensor attributes? (.+?) (was|were) assigned during export")
_RETURNED = re.compile(r"Found <class '(.+?)'> in output")


def as_it_takes(error: Exception, inputs: Sequence[torch.Tensor]) -> str:
    """Return a hint on a model's failing inputs, from the error raised."""
    text = str(error)
    given = ", ".join(map(describe, inputs))
    hint = (
        "use a model and samples for which model(*sample) runs, or dicts with the names of its "
        f"arguments; the first sample is {given}"
    )
    if any(x.dtype != torch.float32 for x in inputs) and _OTHER_TYPES.search(text):
        kept = "convert samples to float32, x.to(torch.float32), with the scale used in training"
        return f"{kept}; or convert them in the model"
    if "cuda" in text.lower():
        return "keep the model on the CPU: no .to() or .cuda() in forward"
    if _CHANNELS.search(text) and any(x.dim() == 4 and x.shape[3] in (1, 3, 4) for x in inputs):
        return f"x.permute(0, 3, 1, 2) for images [N, H, W, C]; or {hint}"
    return hint


def _transforms(error: Exception) -> bool:
    """Return True if torch.func was computing a gradient: grad, jacrev, hessian and so on."""
    frames = extract_tb(error.__traceback__)
    return any(f.filename.endswith(_TRANSFORMS) and _GRADIENTS.search(f.name) for f in frames)


def trace_error(error: Exception) -> tuple[str, str]:
    """Return the problem and the hint for an error of torch.export."""
    text = [*str(error).strip().splitlines(), ""][0]
    line = raising_line(error)
    files = [frame.filename for frame in extract_tb(error.__traceback__)]
    if any(file.endswith(_PACKS) for file in files):
        return "the model packs sequences by lengths that depend on values", _AS_PADDED
    losses = [frame.name for frame in extract_tb(error.__traceback__) if "_loss" in frame.name]
    if losses and isinstance(error, GuardOnDataDependentSymNode):
        return f"the model computes a loss ({losses[0]})", _OF_LOSS
    if isinstance(error, GuardOnDataDependentSymNode) and any(f.endswith(_ADAPTIVE) for f in files):
        what = "nn.AdaptiveLogSoftmaxWithLoss selects clusters by computed values"
        return (
            what,
            "use layer.log_prob(x) for the scores of all classes, and its .argmax(1) for predict",
        )
    if isinstance(error, GuardOnDataDependentSymNode):
        if any(_CHECKS in file for file in files):
            return (
                "a distribution checks its parameters' values",
                "pass validate_args=False to the distribution",
            )
        if _ASSERTS.search(line):
            what = "the model checks computed values; the device has no such check"
            return what, "remove the check from forward"
        if "one_hot(" in line:
            return (
                f"{_NUMBER}: the number of classes",
                "pass the number of classes: F.one_hot(indices, num_classes)",
            )
        is_number = _TAKES_NUMBER.search(line) and not _CHOOSES.search(line.partition(": ")[2])
        if is_number or str(error.cond).isidentifier():  # not a condition but a number itself
            return _NUMBER, _LEAVE_OUT
        return "the model branches or loops on computed values", _BOTH_WAYS
    if isinstance(error, PendingUnbackedSymbolNotFound):
        return f"a value of the model: {NO_FIXED_SHAPE}", GIVE_SIZES
    if "_loss" in text and isinstance(error, DynamicOutputShapeException):
        return f"the model computes a loss ({text})", _OF_LOSS
    if isinstance(error, DynamicOutputShapeException) and "linalg_" in text:
        what = f"the model solves equations ({text})"
        return what, "compute the result in the application and pass it as a model input"
    if isinstance(error, DynamicOutputShapeException):
        return f"a value of the model ({text}): {NO_FIXED_SHAPE}", GIVE_SIZES
    if isinstance(error, DataDependentOutputException):
        return f"{_NUMBER} ({text})", _AS_VALUES
    if takes_gradient(error) or _transforms(error):
        return "the model computes a gradient; the device cannot", WRITTEN_OUT
    if "_nested_tensor" in text:
        return "the model creates a nested tensor", "pad values to one length and use a mask"
    if "FlexAttention" in text:
        what = "use F.scaled_dot_product_attention, with attn_mask for score_mod and block_mask"
        return "the model calls flex_attention, which torch compiles when it runs", what
    if ".numpy()" in text:
        what = "the model converts a computed value to a numpy array"
        return what, "use torch's equivalent function"
    if found := _RETURNED.search(text):
        what = f"the model returns a {found[1]}"
        return what, (
            "return a tensor, or a tuple, list or dict of tensors; register a dataclass with "
            "torch.export.register_dataclass"
        )
    if found := _ASSIGNED.search(text):
        what = f"forward keeps a tensor in {found[1]}, which is not a buffer"
        return what, "use a local variable, or for state a buffer (register_buffer), docs/state.md"
    return f"torch.export cannot trace the model: {type(error).__name__}: {text}", _STATIC
