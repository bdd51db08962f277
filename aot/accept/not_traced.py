# SPDX-License-Identifier: Apache-2.0
"""Why torch.export has no graph of a model, in the user's words, and what to write instead."""

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

_NUMBER = "the model takes a value that it computes for a number of Python"
_LEAVE_OUT = (
    "leave float(), int() and .item() out where a tensor of one element broadcasts; of y[i] = v, "
    "where i is such: y.index_copy(0, i.reshape(1), v[None]); x.trunc() for int(x); sizes and "
    "numbers of rounds are numbers from the start"
)
_BOTH_WAYS = (
    "compute both ways, and m * a + (1 - m) * b of a mask of the condition, "
    "m = (condition > 0).to(x.dtype); a check that raises an error, leave out"
)
_AS_VALUES = (
    "(a == b).all() for torch.equal(a, b); for torch.cov(x) of n columns d @ d.mT / (n - 1), where "
    "d = x - x.mean(1, keepdim=True)"
)
_AS_PADDED = (
    "the padded sequences, y, _ = rnn(x), and where sequence i ends, which is an input n, "
    "y[torch.arange(len(n)), n - 1]"
)
_OTHER_TYPES = re.compile(r"should be the same|same dtype|does not match weight dtype|scalar type")
_CHANNELS = re.compile(r"to have \d+ channels")
_STATIC = "one static graph: no control flow on tensor values, no Python objects in or out"
_ASSERTS = re.compile(r": (assert\b|.*\b_assert\()")
_TAKES_NUMBER = re.compile(r"\b(int|float)\(|\.item\(\)")
_CHOOSES = re.compile(r"\b(if|while|elif|and|or|not|assert)\b|[<>]|[=!]=")
_OF_LOSS = "what the loss is of, as the model's output"
_PACKS = ("/torch/nn/utils/rnn.py", "/torch/nn/modules/rnn.py")
_CHECKS = "/torch/distributions/"
_ADAPTIVE = "/torch/nn/modules/adaptive.py"
_TRANSFORMS = "/torch/_functorch/eager_transforms.py"
_GRADIENTS = re.compile(r"vjp|jvp|grad|jac|hess")
_ASSIGNED = re.compile(r"tensor attributes? (.+?) (was|were) assigned during export")
_RETURNED = re.compile(r"Found <class '(.+?)'> in output")


def as_it_takes(error: Exception, inputs: Sequence[torch.Tensor]) -> str:
    """What to give a model that does not run on its inputs, by what it raised."""
    text = str(error)
    given = ", ".join(map(describe, inputs))
    hint = (
        "a model and samples that model(*sample) takes, or dicts with the names of its arguments; "
        f"the first sample is {given}"
    )
    if any(x.dtype != torch.float32 for x in inputs) and _OTHER_TYPES.search(text):
        kept = "samples of float32, x.to(torch.float32), in the scale of training"
        return f"{kept}; or a model that makes them so"
    if "cuda" in text.lower():
        return "a model that stays on the CPU: no .to() or .cuda() in forward"
    if _CHANNELS.search(text) and any(x.dim() == 4 and x.shape[3] in (1, 3, 4) for x in inputs):
        return f"x.permute(0, 3, 1, 2) for images [N, H, W, C]; or {hint}"
    return hint


def _transforms(error: Exception) -> bool:
    """Return whether torch.func was computing a gradient: grad, jacrev, hessian and their kin."""
    frames = extract_tb(error.__traceback__)
    return any(f.filename.endswith(_TRANSFORMS) and _GRADIENTS.search(f.name) for f in frames)


def why_not_traced(error: Exception) -> tuple[str, str]:
    """What is wrong, and the hint, of what torch.export raised."""
    text = [*str(error).strip().splitlines(), ""][0]
    line = raising_line(error)
    files = [frame.filename for frame in extract_tb(error.__traceback__)]
    if any(file.endswith(_PACKS) for file in files):
        return "the model packs sequences, by lengths that are values", _AS_PADDED
    losses = [frame.name for frame in extract_tb(error.__traceback__) if "_loss" in frame.name]
    if losses and isinstance(error, GuardOnDataDependentSymNode):
        return f"the model computes a loss ({losses[0]})", _OF_LOSS
    if isinstance(error, GuardOnDataDependentSymNode) and any(f.endswith(_ADAPTIVE) for f in files):
        what = "nn.AdaptiveLogSoftmaxWithLoss decides by its values which clusters it computes"
        return what, "layer.log_prob(x), all classes' scores; its .argmax(1) for predict"
    if isinstance(error, GuardOnDataDependentSymNode):
        if any(_CHECKS in file for file in files):
            return "a distribution checks the values that it is made of", "validate_args=False"
        if _ASSERTS.search(line):
            what = "the model checks values that it computes, which the device does not"
            return what, "leave the check out of forward"
        if "one_hot(" in line:
            return f"{_NUMBER}: how many classes there are", "F.one_hot(indices, num_classes)"
        is_number = _TAKES_NUMBER.search(line) and not _CHOOSES.search(line.partition(": ")[2])
        if is_number or str(error.cond).isidentifier():  # not a condition but a number itself
            return _NUMBER, _LEAVE_OUT
        return "the model decides by values that it computes which way to go on", _BOTH_WAYS
    if isinstance(error, PendingUnbackedSymbolNotFound):
        return f"a value of the model: {NO_FIXED_SHAPE}", GIVE_SIZES
    if "_loss" in text and isinstance(error, DynamicOutputShapeException):
        return f"the model computes a loss ({text})", _OF_LOSS
    if isinstance(error, DynamicOutputShapeException) and "linalg_" in text:
        what = f"the model solves equations ({text})"
        return what, "what it gives as an input of the model, computed in front of it"
    if isinstance(error, DynamicOutputShapeException):
        return f"a value of the model ({text}): {NO_FIXED_SHAPE}", GIVE_SIZES
    if isinstance(error, DataDependentOutputException):
        return f"{_NUMBER} ({text})", _AS_VALUES
    if takes_gradient(error) or _transforms(error):
        return "the model takes a gradient, which the device does not", WRITTEN_OUT
    if "_nested_tensor" in text:
        return "the model makes a nested tensor", "values padded to one length, and a mask of them"
    if "FlexAttention" in text:
        what = "F.scaled_dot_product_attention, with attn_mask for score_mod and block_mask"
        return "the model calls flex_attention, which is compiled when it runs", what
    if ".numpy()" in text:
        what = "the model makes an array of numpy of a value that it computes"
        return what, "the function of torch that does the same"
    if found := _RETURNED.search(text):
        what = f"the model gives a {found[1]}"
        return what, (
            "a tensor, or a tuple, list or dict of tensors; torch.export.register_dataclass makes "
            "a dataclass one of them"
        )
    if found := _ASSIGNED.search(text):
        what = f"forward keeps a tensor in {found[1]}, which is no buffer"
        return what, "a local variable, or state: a buffer (register_buffer), docs/state.md"
    return f"torch.export cannot trace the model: {type(error).__name__}: {text}", _STATIC
