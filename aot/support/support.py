# SPDX-License-Identifier: Apache-2.0
"""Supported ATen ops, and error texts for all other ops."""

from __future__ import annotations

from collections.abc import Callable

import torch
from absl import logging
from torch.fx import GraphModule, Node

from aot.accept.requirements import UNQUANTIZED
from aot.backends.cortex_m import has_float_kernel
from aot.dialect.results import is_result, taken_from
from aot.errors import LoweringError, Problem, describe, place_of, problem_at, written_as
from aot.rules import gives_integers, has_rules_by_result, keep_float, rule_for
from aot.rules.function import Roots, is_interior, roots_known
from aot.rules.integers import of_narrow_input
from kernels.common.tensor import MAX_RANK

_HINTS = {
    **dict.fromkeys(
        ("aten._native_batch_norm_legit", "aten._native_batch_norm_legit_functional"),
        "BatchNorm with running statistics, which is folded away",
    ),
    "aten.scaled_dot_product_attention": "dropout_p=0.0",
    "aten.lstm": "constant weights, and sequences without packing",
    "aten.gru": "constant weights, and sequences without packing",
    "aten.where": "float32 values",
    "aten.grid_sampler_2d": "bilinear or nearest sampling with zeros or border padding, "
    "or one constant grid for all images",
    **dict.fromkeys(
        (
            "aten.rand",
            "aten.rand_like",
            "aten.randint",
            "aten.randn",
            "aten.randn_like",
            "aten.randperm",
            "aten.bernoulli",
            "aten.binomial",
            "aten.cauchy",
            "aten.exponential",
            "aten.geometric",
            "aten.log_normal",
            "aten.normal",
            "aten.normal_functional",
            "aten.poisson",
            "aten.random",
            "aten.uniform",
            "aten._sample_dirichlet",
            "aten._standard_gamma",
            "aten.multinomial",
            "gumbel_softmax",
        ),
        "pass random numbers as a model input",
    ),
    **dict.fromkeys(
        ("aten.linalg_inv_ex", "aten._linalg_det", "aten._linalg_solve_ex"),
        "a matrix of at most 4 rows, or compute the result in the application and pass it as a "
        "model input",
    ),
    **dict.fromkeys(
        (
            f"{prefix}linalg_{name}"
            for name in (
                "cholesky",
                "eig",
                "eigh",
                "eigvals",
                "eigvalsh",
                "lstsq",
                "matrix_exp",
                "pinv",
                "qr",
                "svd",
            )
            for prefix in ("", "aten.")
        ),
        "compute the result in the application and pass it as a model input",
    ),
    "autocast": "forward without torch.autocast: lowering quantizes float32 values",
    **dict.fromkeys(
        (
            "dropout",
            "dropout1d",
            "dropout2d",
            "dropout3d",
            "alpha_dropout",
            "feature_alpha_dropout",
        ),
        "training=self.training, and call eval() before you export the model",
    ),
    **dict.fromkeys(
        ("aten.diagonal_scatter", "fill_diagonal_"), "torch.where, with a mask of the positions"
    ),
    **dict.fromkeys(
        ("put", "put_", "aten.put", "aten.put.default"),
        "index_put on x.flatten(), with the indices in a tuple",
    ),
    **{
        name: f"F.adaptive_max_pool{dims}d, without random windows"
        for dims in (2, 3)
        for written in (f"fractional_max_pool{dims}d", f"fractional_max_pool{dims}d_with_indices")
        for name in (written, f"aten.{written}")
    },
    "aten.searchsorted": "(sorted_sequence[None] < values[:, None]).sum(1), or constant boundaries",
    "pdist": "torch.cdist(x, x), and take the elements above the diagonal",
    **dict.fromkeys(
        (
            "fake_quantize_per_tensor_affine",
            "fake_quantize_per_channel_affine",
            "aten.quantize_per_tensor",
            "aten.quantize_per_channel",
            "aten.dequantize",
        ),
        "the float values: lowering quantizes them",
    ),
    "embedding_bag": "indices of [bags, size], padded with padding_idx, without offsets",
    "aten.nanmedian": "torch.median: int8 has no NaN",
    "aten.masked_scatter": "torch.where, with the values already in position",
    **dict.fromkeys(
        ("item", "aten._local_scalar_dense"),
        "remove .item(): a tensor with one element broadcasts; or use a constant number",
    ),
    **dict.fromkeys(
        ("aten.histc", "aten.mode", "aten.frexp"),
        "return the input of this op from the model, and compute the rest in the application",
    ),
    **dict.fromkeys(
        (
            f"{name}_"
            for name in (
                "kaiming_normal",
                "kaiming_uniform",
                "normal",
                "trunc_normal",
                "uniform",
                "xavier_normal",
                "xavier_uniform",
            )
        ),
        "pass random numbers as a model input; create layers and their weights in __init__, "
        "not in forward",
    ),
    **dict.fromkeys(
        ("aten.gcd", "aten.lcm", "aten.logcumsumexp", "aten.pow.Tensor_Tensor"),
        "for integers: pass its result as a model input, or look it up in a table, TABLE[x]",
    ),
    "aten.bucketize": "(boundaries[None] < values[:, None]).sum(1), or constant boundaries",
    "rrelu": "training=False, which uses the mean slope",
    "cond": "compute both branches and m * a + (1 - m) * b, with m = condition.to(x.dtype)",
}

_HINTS_BY_DTYPE = {
    torch.complex64: "real and imaginary parts as separate tensors: .real, .imag, "
    "torch.view_as_real",
    **dict.fromkeys(
        (torch.float64, torch.float16, torch.bfloat16),
        "float32: remove .double(), .half() and other casts",
    ),
}

_NO_FORM = "it has neither an int8 form nor a float kernel"
_NUMBER = "aten._local_scalar_dense"

MayBeFloat = Callable[[Node], bool]
"""Predicate: an op may be float32 if it has no int8 form."""


def unsupported(module: GraphModule, may_be_float: MayBeFloat) -> list[Problem]:
    """Return a problem for each op without a lowering."""
    problems: dict[Node, Problem] = {}
    said: set[Node] = set()  # reported, together with the producers of their inputs
    with roots_known(module.graph) as roots:
        for node in module.graph.nodes:
            if node.op != "call_function":
                continue
            if (reason := of_narrow_input(node)) is not None:
                other = _hint(written_as(node), str(node.target), "")
                problems[node] = problem_at(node, *((_NO_FORM, other) if other else reason))
                continue
            if has_rules_by_result(node) or is_interior(node, roots):
                continue
            sources = {n: taken_from(n)[0] for n in node.all_input_nodes if not _is_float(n)}
            if any(n in said or of in problems or of in said for n, of in sources.items()):
                said.add(node)
                continue
            if is_result(node) and taken_from(node)[0] in problems:
                continue
            problem = _problem(node, roots, may_be_float)
            if problem is not None:
                problems[node] = problem
    first: dict[object, Problem] = {}
    for node, problem in problems.items():
        # One call of the user is reported once, even if it consists of several ops.
        call = node.meta["torch_fn"] if written_as(node) else node
        first.setdefault((call, problem.where), problem)
    # A line that makes an op many times, such as tolist(), is one problem.
    return list(dict.fromkeys(first.values()))


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def check_supported(module: GraphModule, may_be_float: MayBeFloat) -> None:
    """Raise LoweringError with all ops that cannot be lowered.

    Ops that fall back to float stay float from here on, regardless of rules for them.
    """
    problems = unsupported(module, may_be_float)
    if problems:
        raise LoweringError(
            f"{len(problems)} op{'s' if len(problems) > 1 else ''} of the model cannot be lowered "
            "to int8:",
            problems,
        )


def warn_of_losses(module: GraphModule) -> None:
    """Log the first loss of each kind: ops such as loss functions are seldom meant for a device."""
    losses = {written_as(node): node for node in reversed(module.graph.nodes)}
    for name, node in losses.items():
        if name.endswith("_loss"):
            logging.warning(
                "the model computes a loss, %s (at %s): if that is no score of yours, return what "
                "the loss is of",
                name,
                place_of(node),
            )


def _hint(written: str, name: str, default: str) -> str:
    """Return a replacement for an op: by the user's call, else by the overload, else by the op."""
    names = (written, name, name.rsplit(".", 1)[0])
    return next((_HINTS[n] for n in names if n in _HINTS), default)


def _hint_of_dtype(value: object) -> str:
    default = "float32 (x.to(torch.float32)), or keep such values out of the model"
    return _HINTS_BY_DTYPE.get(value.dtype, default) if isinstance(value, torch.Tensor) else default


def _problem(node: Node, roots: Roots, may_be_float: MayBeFloat) -> Problem | None:
    value = node.meta.get("val")
    name = str(taken_from(node)[0].target)

    written = written_as(node)

    def problem(reason: str, hint: str) -> Problem:
        return problem_at(node, reason, _HINTS.get(written, hint))

    rule = rule_for(node, roots)
    rejection = rule.reject(node) if rule is not None else None
    sources = rule.activations(node) if rule is not None else node.all_input_nodes
    tensors = [n.meta.get("val") for n in sources]
    if not gives_integers(node):
        tensors = [value[0] if isinstance(value, tuple) else value, *tensors]
    wrong = [t for t in tensors if not isinstance(t, torch.Tensor) or t.dtype != torch.float32]
    if rule is None and len(wrong) < len(tensors):  # indices and masks are not the problem
        wrong = [t for t in wrong if not isinstance(t, torch.Tensor) or t.dtype not in UNQUANTIZED]
    if name.startswith(_NUMBER):
        return problem(
            "it makes a number of Python of a value that the model computes", _HINTS[_NUMBER]
        )
    shapes = [t.shape for t in tensors if isinstance(t, torch.Tensor)]
    if any(0 in shape for shape in shapes) and rejection is None:
        return problem("it works on a tensor without elements", "values with at least one element")
    given = [n.meta.get("val") for n in (node, *node.all_input_nodes) if n.op != "get_attr"]
    if any(isinstance(t, torch.Tensor) and t.dim() > MAX_RANK for t in given):
        return problem(
            f"it works on a tensor of more than {MAX_RANK} dimensions, which the device has no "
            "room for",
            "dimensions that are merged",
        )
    has_other_form = rule is None and _hint(written, name, "")
    if wrong and not has_other_form:  # with another form, integer inputs are irrelevant
        return problem(
            f"it works on {describe(wrong[0])}; only float32 tensors become int8",
            "a constant of float32, c.to(x.dtype)"
            if not written
            and any(n.op == "get_attr" and n.meta.get("val") is wrong[0] for n in sources)
            else _hint(written, name, _hint_of_dtype(wrong[0])),
        )
    if rule is not None and rejection is None:
        return None
    has_kernel = has_float_kernel(node)
    if has_kernel and may_be_float(node):
        keep_float(node)
        return None
    if rejection is not None:
        return problem(*rejection)
    if has_kernel:
        return problem("it has no int8 form", _hint(written, name, "--allow-float-fallback"))
    return problem(
        _NO_FORM,
        _hint(
            written,
            name,
            "other functions that say the same (docs/operators.md), or what it gives as an input "
            "of the model, computed in front of it",
        ),
    )
