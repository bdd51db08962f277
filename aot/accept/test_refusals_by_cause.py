# SPDX-License-Identifier: Apache-2.0
"""A refusal contains the op, the user's line and its own cause. The requested model lowers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.support.support import check_supported
from aot.testing.fixtures import model

Function = Callable[..., object]

X = torch.randn(4, 8, generator=torch.Generator().manual_seed(3))
IMAGE = torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(4))
INDEX = torch.tensor([[0, 1, 2], [1, 2, 0]])
MASK = torch.tensor([[False] * 8, *[[True] * 8] * 3])
ENDLESS = -torch.inf


@dataclass(frozen=True)
class Refused:
    """A refused program.

    Attributes:
      function: the model's function of X, or of `given`.
      cause: texts of the refusal: the op, the reason, the remedy.
      remedy: the program as the refusal asks for it, None where nothing replaces it.
      others: texts of other causes.
      given: the inputs.
      parts: modules that the function takes first.
    """

    function: Function
    cause: tuple[str, ...]
    remedy: Function | None = None
    others: tuple[str, ...] = ()
    given: tuple[Tensor, ...] = (X,)
    parts: tuple[nn.Module, ...] = ()


def trained_within(norm: nn.BatchNorm2d, x: Tensor) -> Tensor:
    norm.train()
    y: Tensor = norm(x)
    norm.eval()
    return y


def until_large(x: Tensor) -> Tensor:
    while x.sum() < 10.0:
        x = x + 1.0
    return x


def asserted(x: Tensor) -> Tensor:
    assert x.sum() > -1e9
    return x * 2.0


def whole(x: Tensor, start: int, end: int) -> Tensor:
    return x[:, start:end] * 2.0


_SHAPE = ("its shape depends on values", "a mask to multiply by")
_RANDOM = ("neither an int8 form nor a float kernel", "random numbers as a model input")
_BY_NAN = ("constant", "infinite")
_BY_TYPE = ("only float32 tensors", "a constant of float32")
_TRAINING = ("training=self.training",)
_GRADIENT = ("computes a gradient", "write the derivative out")
_LOSS = ("computes a loss", "the loss function's input")

REFUSED: dict[str, Refused] = {
    "statistics of a batch": Refused(
        trained_within,
        ("batch_norm", "BatchNorm with running statistics"),
        lambda norm, x: norm(x),
        given=(IMAGE,),
        parts=(nn.BatchNorm2d(4),),
    ),
    "values dropped": Refused(
        lambda x: F.dropout(x), ("dropout", *_TRAINING), lambda x: F.dropout(x, training=False)
    ),
    "values dropped, alpha": Refused(
        lambda x: F.alpha_dropout(x, training=True), ("alpha_dropout", *_TRAINING)
    ),
    "features dropped": Refused(
        lambda x: F.feature_alpha_dropout(x, training=True),
        ("feature_alpha_dropout", *_TRAINING),
        given=(IMAGE,),
    ),
    "bucketize": Refused(
        lambda x, b: torch.bucketize(x, b),
        ("aten.bucketize", "(boundaries[None] < values[:, None]).sum(1)"),
        lambda x, b: (b[None] < x.flatten()[:, None]).sum(1),
        _BY_TYPE,
        given=(X, torch.tensor([-1.0, 0.0, 1.0])),
    ),
    "an op without a form": Refused(
        lambda x: torch.logdet(x[:, :4] @ x[:, :4].mT),
        ("logdet", "neither an int8 form nor a float kernel", "docs/operators.md"),
    ),
    "a large inverse": Refused(
        lambda x: torch.linalg.inv(x[0, :, None] * x[0] + torch.eye(8)),
        ("linalg_inv", "a matrix of at most 4 rows"),
        lambda x: torch.linalg.inv(x[:, :4]),
    ),
    "histogram": Refused(lambda x: torch.histc(x), ("aten.histc", "in the application")),
    "eigenvalues": Refused(
        lambda x: torch.linalg.eigvals(x[:, :4]).real,
        ("linalg_eigvals", "pass it as a model input"),
        lambda x: x.real,
    ),
    "singular values": Refused(
        lambda x: torch.linalg.svd(x)[1], ("linalg_svd", "pass it as a model input")
    ),
    "complex": Refused(
        lambda x: torch.fft.fft(x),
        ("fft_fft", "complex64[4, 8]", "torch.view_as_real"),
        lambda x: torch.view_as_real(torch.fft.fft(x)),
    ),
    "float64": Refused(
        lambda x: x.double() * 2.0, ("float64[4, 8]", "remove .double()"), lambda x: x * 2.0
    ),
    "bfloat16": Refused(lambda x: x.bfloat16() + 1.0, ("bfloat16[4, 8]", "other casts")),
    "sparse": Refused(
        lambda x: x.to_sparse(), ("layout torch.sparse_coo", ".to_dense()"), lambda x: x * 1.0
    ),
    "random numbers": Refused(
        lambda x: x + torch.rand(8), ("aten.rand", *_RANDOM), lambda x: x + x[0]
    ),
    "random numbers like a value": Refused(
        lambda x: x + torch.randn_like(x), ("aten.randn_like", *_RANDOM)
    ),
    "a layer made in forward": Refused(
        lambda x: nn.Linear(8, 4)(x),
        ("kaiming_uniform_", "create layers and their weights in __init__"),
        lambda x: F.linear(x, torch.ones(4, 8)),
    ),
    "quantized by the model": Refused(
        lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(),
        ("aten.quantize_per_tensor", "the float values: lowering quantizes them"),
        lambda x: x * 1.0,
    ),
    "fake quantizers": Refused(
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
        ("fake_quantize_per_tensor_affine", "the float values: lowering quantizes them"),
    ),
    "torch.cond": Refused(
        lambda x: torch.cond(x.sum() > 0.0, lambda y: y * 2.0, lambda y: y * 3.0, (x,)),
        ("cond -> ", "m * a + (1 - m) * b"),
        lambda x: (m := (x.sum() > 0.0).to(x.dtype)) * (x * 2.0) + (1.0 - m) * (x * 3.0),
        ("numel",),
    ),
    "rank 7": Refused(
        lambda x: x.view(2, 2, 2, 2, 2, 1, 1) * 2.0,
        ("more than 6 dimensions", "dimensions that are merged"),
        lambda x: x.view(2, 2, 2, 2, 2) * 2.0,
    ),
    "nothing": Refused(
        lambda x: x[:, :0] * 2.0, ("the slice is empty", "a range inside the dimension")
    ),
    "a branch": Refused(
        lambda x: x * 2.0 if x.sum() > 0.0 else x * 3.0,
        ("branches or loops on computed values", "m * a + (1 - m) * b"),
        lambda x: (m := (x.sum() > 0.0).to(x.dtype)) * (x * 2.0) + (1.0 - m) * (x * 3.0),
    ),
    "a loop": Refused(until_large, ("branches or loops on", "in until_large: while x.sum()")),
    "a check": Refused(
        asserted,
        ("checks computed values", "in asserted: assert", "remove the check"),
        lambda x: x * 2.0,
    ),
    "a size of values": Refused(
        lambda x: whole(x, 0, int(x.sum())),
        ("uses a computed value as a Python number", "sizes", "constant numbers"),
        lambda x: whole(x, 0, 3),
    ),
    "a number of classes": Refused(
        lambda x: F.one_hot((x > 0.0).long()),
        ("uses a computed value as a Python number", "F.one_hot(indices, num_classes)"),
        lambda x: F.one_hot((x > 0.0).long(), 2),
    ),
    "a number of a value": Refused(
        lambda x: x.roll(x[0].argmax()),
        ("roll", "makes a number of Python", "a constant number"),
        lambda x: x.roll(1),
        _BY_TYPE,
    ),
    "chosen elements": Refused(
        lambda x: x[x > 0.0],
        ("aten.index", *_SHAPE),
        lambda x: x * (x > 0.0).to(x.dtype),
    ),
    "places": Refused(lambda x: x.nonzero(), ("aten.nonzero", *_SHAPE)),
    "unique values": Refused(lambda x: torch.unique(x), ("unique", *_SHAPE)),
    "a part from a place of a tensor": Refused(
        lambda x: x.narrow(1, x[0].argmax() % 2, 2),
        ("its shape depends on values", "sizes that are numbers"),
        lambda x: x.narrow(1, 1, 2),
        ("changes",),
    ),
    "numpy": Refused(
        lambda x: torch.from_numpy(x.numpy()) * 2.0,
        ("a numpy array", "equivalent function"),
        lambda x: x * 2.0,
    ),
    "jacrev": Refused(lambda x: torch.func.vmap(torch.func.jacrev(torch.tanh))(x), _GRADIENT),
    "hessian": Refused(
        lambda x: torch.func.hessian(lambda y: (y * y * y).sum())(x[0]),
        _GRADIENT,
        lambda x: torch.diag(6.0 * x[0]),
        ("attribute",),
    ),
    "Gaussian loss": Refused(
        lambda x: F.gaussian_nll_loss(x, x * 0.5, x.exp()), (*_LOSS, "gaussian_nll_loss")
    ),
    "loss of several labels": Refused(
        lambda x: F.multilabel_margin_loss(x, torch.tensor([[1, -1, 2, 0, 3, 4, 5, 6]] * 4)),
        (*_LOSS, "multilabel_margin_loss", "after the first -1"),
        torch.tanh,
    ),
    "CTC loss": Refused(
        lambda x: F.ctc_loss(
            x.log_softmax(-1)[:, None],
            torch.tensor([[1, 2]]),
            torch.tensor([4]),
            torch.tensor([2]),
        ),
        (*_LOSS, "_ctc_loss"),
        lambda x: x.log_softmax(-1),
    ),
    "classes by clusters": Refused(
        lambda layer, x: layer.predict(x),
        ("parts.0 (AdaptiveLogSoftmaxWithLoss)", "layer.log_prob(x)", ".argmax(1)"),
        lambda layer, x: layer.log_prob(x).argmax(1),
        ("m * a",),
        parts=(nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12], div_value=2.0),),
    ),
    "another shape": Refused(
        lambda x: x.reshape(3, 3),
        ("does not run on its first sample", "shape '[3, 3]' is invalid", "float32[4, 8]"),
        lambda x: x.reshape(2, 16) * 1.0,
    ),
    "another device": Refused(
        lambda x: x.cuda(), ("does not run on its first sample", "keep the model on the CPU")
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_names_its_cause(name: str) -> None:
    case = REFUSED[name]
    with pytest.raises(LoweringError) as caught:
        check_supported(
            export_aten(model(case.function, *case.parts), case.given), lambda node: False
        )
    text = str(caught.value)
    assert [cause for cause in case.cause if cause not in text] == []
    assert [other for other in (*case.others, "torch.export cannot") if other in text] == []
    assert "\n    at " in text and "instead: " in text


@pytest.mark.parametrize("name", [name for name, case in REFUSED.items() if case.remedy])
def test_its_remedy_lowers(name: str) -> None:
    case = REFUSED[name]
    assert case.remedy is not None
    check_supported(export_aten(model(case.remedy, *case.parts), case.given), lambda node: False)


NO_NUMBERS: dict[str, Refused] = {
    "a row that is masked whole": Refused(
        lambda x, mask: torch.where(mask, x, ENDLESS).log_softmax(-1),
        ("log_softmax", "gives NaN", "leaves at least one value of each row"),
        lambda x, mask: torch.where(mask | ~mask, x, ENDLESS).log_softmax(-1),
        _BY_NAN,
        given=(X, MASK),
    ),
    "a root behind a mask": Refused(
        lambda x, mask: torch.where(mask, x - 9.0, ENDLESS).amax(-1).sqrt(),
        ("sqrt", "gives NaN", "clamp it"),
        lambda x, mask: torch.where(mask, x - 9.0, ENDLESS).amax(-1).clamp(min=0.0).sqrt(),
        _BY_NAN,
        given=(X, MASK),
    ),
    "a root behind a mask of -1e9": Refused(
        lambda x, mask: torch.where(mask, x - 9.0, -1e9).amax(-1).sqrt(),
        ("sqrt", "gives NaN", "clamp it"),
        None,
        _BY_NAN,
        given=(X, MASK),
    ),
    "a logarithm": Refused(
        lambda x: x.log(),
        ("aten.log", "calibration sample 0", "gives NaN", "clamp it"),
        lambda x: x.clamp(min=0.1).log(),
        _BY_NAN,
    ),
    "an index outside": Refused(
        lambda x, i: x.gather(1, i),
        ("an index outside of its table", "index 9 is out of bounds", "within the rows"),
        given=(X, torch.tensor([[9], [1], [1], [1]])),
    ),
}


def lowered(function: Function, case: Refused) -> Any:
    data = [case.given] * 2
    return lower(
        model(function, *case.parts),
        case.given,
        calibration=data,
        measure=Measure(min_sqnr=-torch.inf, min_agreement=0.0, per_op=False),
    )


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_calibration_names_its_cause(name: str) -> None:
    case = NO_NUMBERS[name]
    with pytest.raises(LoweringError) as caught:
        lowered(case.function, case)
    text = str(caught.value)
    assert [cause for cause in case.cause if cause not in text] == []
    assert [other for other in case.others if other in text] == []
    assert "\n    at " in text and "instead: " in text
    if case.remedy is not None:
        lowered(case.remedy, case)


def test_a_function_of_a_constant_holds_no_nan() -> None:
    """`xlogy` tests a constant for NaN; the answer is known."""
    positive = X.abs() + 0.5
    result = lowered(lambda x: torch.xlogy(x, positive), Refused(torch.tanh, (), given=(X,)))
    (found,) = result.dequantize_outputs(result.reference((X,)))
    assert torch.allclose(found, torch.xlogy(X, positive), atol=0.1)
