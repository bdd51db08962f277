# SPDX-License-Identifier: Apache-2.0
"""Distance of a lowered model's outputs from the float model's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import arguments, returned
from aot.dialect.results import taken_from
from aot.quality.decibels import ROUGH_DB, decibels, in_decibels, power
from aot.rules.movement import PERMUTE_TARGETS, RESHAPE_TARGETS
from aot.upstream.torch import tree_leaves

_CLEAR = 0.5
"""A class is clear for the float model if it leads the next by this many standard deviations of its
scores.
"""

_RESOLVED = 1e-9
"""An output that varies by less than this share of its energy counts as constant."""

_MAXIMUM = (torch.ops.aten.argmax.default, torch.ops.aten.max.dim)
_MINIMUM = (torch.ops.aten.argmin.default, torch.ops.aten.min.dim)
_TOPK = torch.ops.aten.topk.default
_AS_THEY_ARE = (
    torch.ops.aten._to_copy.default,
    torch.ops.aten.add.Scalar,
    torch.ops.aten.add.Tensor,
    torch.ops.aten.clone.default,
    torch.ops.aten.reshape.default,
    torch.ops.aten.squeeze.default,
    torch.ops.aten.squeeze.dim,
    torch.ops.aten.squeeze.dims,
    torch.ops.aten.unsqueeze.default,
    torch.ops.aten.view.default,
)
_SOFTMAX = (torch.ops.aten.softmax.int, torch.ops.aten.log_softmax.int)
_LINEAR = torch.ops.aten.linear.default
_LAYERS = (
    torch.ops.aten.convolution.default,
    torch.ops.aten.adaptive_avg_pool2d.default,
    torch.ops.aten.avg_pool2d.default,
)
_MEANS = (torch.ops.aten.mean.dim, *_LAYERS[1:])
_MOVED = (
    *RESHAPE_TARGETS,
    *PERMUTE_TARGETS,
    torch.ops.aten.select.int,
    torch.ops.aten.slice.Tensor,
)
_SCALED = tuple(
    getattr(getattr(torch.ops.aten, name), kind)
    for name in ("add", "sub", "mul", "div")
    for kind in ("Tensor", "Scalar")
)


@dataclass(repr=False)
class Output:
    """One output over all samples, and the classes it chooses.

    Attributes:
      name: of its node.
      class_dim: the class dimension of the output, or of the values its integers are
        chosen from; None if it is no choice, or one among all elements.
      is_class: a sample of it is one class, or one integer.
      signal: the sum of the squares of the float model's values.
      actual: the same of the lowered model's.
      noise: the same of the difference.
      product: the sum of the products of the two.
      sums: of the float model's values, element by element.
      samples: number of samples.
      endless: number of infinite or NaN values of the float model; the sums leave them
        out.
      is_float: it holds real numbers, and no integers or masks.
      is_exact: no float is on the way from the inputs to it: it has to be equal.
      path: its position in the return value of the user's model; "" if it is that value.
      choice: source of the integers, a node of the float graph; None if they are no
        choice, nor computed from one.
      count: number of chosen elements, the best first.
      largest: the largest are the best.
      is_choice: it is a softmax or an index; a row of numbers may be none.
      classes: choices of the float model and of the lowered one, all integers of an
        integer output, sample by sample.
    """

    name: str
    class_dim: int | None
    is_class: bool
    choice: Node | None = None
    count: int = 1
    largest: bool = True
    signal: float = 0.0
    actual: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    sums: torch.Tensor | None = None
    samples: int = 0
    endless: int = 0
    is_float: bool = True
    is_exact: bool = False
    path: str = ""
    is_choice: bool = False
    classes: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    _leads: list[torch.Tensor] = field(default_factory=list)
    _variances: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"output `{self.name}`" + (f", {self.path}" if self.path else "")

    def __repr__(self) -> str:
        return f"<{self}: {self.distance}>"

    @property
    def distance(self) -> str:
        """All measures, for people."""
        parts = []
        if self.sqnr_db is not None:
            parts.append(f"SQNR {in_decibels(self.sqnr_db)}")
        if self.cosine is not None:
            parts.append(f"cosine {self.cosine:.5f}")
        if self.agreement is not None:
            parts.append(f"agreement {self.agreement:.2%}")
        return ", ".join(parts) or "always 0"

    @property
    def sqnr_db(self) -> float | None:
        """None of integers, and where the float model gives nothing but zeros."""
        return decibels(self.signal, self.noise) if self.is_float else None

    @property
    def is_rough(self) -> bool:
        return self.sqnr_db is not None and self.sqnr_db < ROUGH_DB

    @property
    def varying_db(self) -> float | None:
        """SQNR of the variation between samples, without each element's mean.

        Example: for a temperature of 20 +- 1 degrees, an error of 2 is 20 dB below the signal and
        hides all variation. None for one sample, and if all samples are the same.
        """
        varying = self._varying()
        return None if varying is None else decibels(varying, self.noise)

    @property
    def varying_share_db(self) -> float | None:
        """Share of that variation in the signal, in dB; None likewise."""
        varying = self._varying()
        return None if varying is None else decibels(varying, self.signal)

    def _varying(self) -> float | None:
        if self.sums is None or self.samples < 2:
            return None
        varying = self.signal - power(self.sums) / self.samples
        if varying < _RESOLVED * self.signal:
            return None
        return varying * self.samples / (self.samples - 1)

    @property
    def is_still(self) -> bool:
        """Return True if its numbers are the same in all of several samples."""
        is_one = self.is_float and self.samples > 1 and self.signal > 0.0
        return is_one and self._varying() is None

    @property
    def cosine(self) -> float | None:
        """Cosine of the angle between float and int8. None for integers, and if one of them is all
        zeros.
        """
        length = math.sqrt(self.signal * self.actual)
        return self.product / length if length > 0.0 else None

    @property
    def agreement(self) -> float | None:
        """Share of the classes that agree with the float model's; None if the output is
        no choice.
        """
        same = self._same()
        return None if same is None else same.double().mean().item()

    @property
    def several_differ(self) -> bool:
        """Return True if more than one class differs from the float model's."""
        same = self._same()
        return same is not None and int((~same).sum()) > 1

    @property
    def only_class(self) -> int | None:
        """Class the float model chooses in every sample; None if it varies, or is no class."""
        return self.only_score if self.is_choice else None

    @property
    def only_score(self) -> int | None:
        """The same for any row that may score classes."""
        if not self.is_class:
            return None
        found = {int(expected) for expected, _ in self.classes}
        return found.pop() if len(found) == 1 else None

    @property
    def clear_agreement(self) -> tuple[int, int] | None:
        """Count of the classes clear for the float model, and of those the lowered model also
        chooses.

        None if the output does not show how clear a class is.
        """
        same = self._same()
        if same is None or not self._leads:
            return None
        # The median is robust: one unusual sample does not affect it.
        deviation = math.sqrt(statistics.median(self._variances))
        sure = torch.cat(self._leads) > _CLEAR * deviation
        return int(sure.sum()), int((sure & same).sum())

    def accuracy(self, labels: torch.Tensor) -> tuple[float, float]:
        """Return the share of samples whose class is the label: of the float model, and of the
        lowered one.
        """
        chosen = (torch.cat(column) for column in zip(*self.classes, strict=True))
        float32, int8 = ((column == labels).double().mean().item() for column in chosen)
        return float32, int8

    def accuracy_by_chance(self, labels: torch.Tensor) -> float:
        """The float model's, if it chose each class as often, and of any sample."""
        chosen = torch.cat([expected for expected, _ in self.classes])
        shares = (
            (chosen == c).double().mean() * (labels == c).double().mean() for c in labels.unique()
        )
        return float(sum(shares))

    def confusion(self, labels: torch.Tensor, limit: int) -> list[list[int]] | None:
        """Return how often the lowered model chooses each class (column) for each right class
        (row).

        None if there are more than `limit` classes, or integers that are none.
        """
        chosen = torch.cat([actual for _, actual in self.classes])
        every = torch.cat([chosen, labels])
        count = int(every.max()) + 1
        if count > limit or int(every.min()) < 0:
            return None
        both = (labels * count + chosen).bincount(minlength=count * count)
        rows: list[list[int]] = both.reshape(count, count).tolist()
        return rows

    def add(
        self, expected: torch.Tensor, actual: torch.Tensor, choice: torch.Tensor | None = None
    ) -> None:
        """Add a sample: the results of the float model and of the lowered one.

        The last argument is the source of the float model's integers.
        """
        finite = torch.isfinite(expected)
        self.endless += int((~finite).sum())
        numbers = torch.where(finite, expected.double(), 0.0)
        self.signal += power(numbers)
        self.noise += power(torch.where(finite, actual.double() - numbers, 0.0))
        self.sums = numbers if self.sums is None else self.sums + numbers
        self.samples += 1
        if not expected.is_floating_point():
            self.classes.append((expected.flatten(), actual.flatten()))
            if choice is not None:
                self._add_lead(choice.flatten() if self.class_dim is None else choice)
            return
        self.actual += power(torch.where(finite, actual, 0.0))
        self.product += (actual.double() * numbers).sum().item()
        if self.class_dim is not None:
            chosen = (x.argmax(self.class_dim).flatten() for x in (expected, actual))
            self.classes.append((next(chosen), next(chosen)))
            self._add_lead(expected)

    def _add_lead(self, values: torch.Tensor) -> None:
        """Add the lead of the first class over the second, and the spread of classes in general.

        Further chosen elements count likewise, with the distance to both neighbours.
        """
        dim = -1 if self.class_dim is None else self.class_dim
        values = values.movedim(dim, -1)
        values = values if values.is_floating_point() else values.double()
        best = values.sort(-1, self.largest).values[..., : self.count + 1]
        gaps = best.diff(dim=-1).abs().nan_to_num(0.0, math.inf)  # no gap between two masked ones
        gaps = torch.nn.functional.pad(gaps, (1, 1), value=math.inf)
        leads = torch.minimum(gaps[..., :-1], gaps[..., 1:])[..., : self.count]
        self._leads.append(leads.movedim(-1, dim).flatten())
        known = torch.where(values.isfinite(), values, math.nan)
        variances = (known - known.nanmean(-1, keepdim=True)).square().nanmean(-1)
        self._variances.append(variances.nanmean().nan_to_num(0.0).item())

    def _same(self) -> torch.Tensor | None:
        return torch.cat([a == b for a, b in self.classes]) if self.classes else None


def outputs_of(
    floats: GraphModule, paths: Sequence[str], exact: Sequence[bool], of_classes: bool = False
) -> list[Output]:
    """Return the outputs of a float graph in order, without samples, and their positions in the
    user's result.

    Three kinds of output are classes: a softmax in its dimension, indices of maxima, and rows of
    two values or more if a layer computes them all. A signal is not, nor a reconstruction of an
    input.

    Args:
      floats: the graph.
      paths: of its outputs.
      exact: for each, no float is on the way to it (aot.dialect.kind.exact_outputs).
      of_classes: the user declares classes: then all rows are classes.
    """
    nodes = [n for n in tree_leaves(returned(floats)[0]) if isinstance(n, Node)]
    found = (_output(node, of_classes or _scores(node)) for node in nodes)
    return [
        replace(output, path=path, is_exact=is_exact)
        for output, path, is_exact in zip(found, paths, exact, strict=True)
    ]


def _scores(node: Node) -> bool:
    """Return True if a value is a row of class scores: a linear layer's results, or means of
    channels.

    A factor, an added number and a change of shape make no difference.
    """
    sizes = [n.meta["val"].shape for n in node.graph.find_nodes(op="placeholder")]
    count: int = node.meta["val"].numel()
    while node.target in (*_MOVED, *_SCALED) and len(_computed(node)) == 1:
        (node,) = _computed(node)
    if node.target is _LINEAR:
        return count not in map(math.prod, sizes)
    if node.target in _LAYERS and node.meta["val"].dim() > 2:
        return int(math.prod(node.meta["val"].shape[2:])) == 1
    return node.target in _MEANS


def _computed(node: Node) -> list[Node]:
    """Return the inputs of a node that are no constants."""
    return [source for source in node.all_input_nodes if source.op != "get_attr"]


def _output(node: Node, is_row_of_classes: bool) -> Output:
    value = node.meta["val"]
    if not value.is_floating_point():
        return replace(_integers(node, value), is_float=False)
    dim = None
    if node.target in _SOFTMAX:
        dim = int(arguments(node)["dim"])
    elif value.dim() == 2 and is_row_of_classes:
        dim = 1
    if dim is None or _classes(node, dim) < 2:
        return Output(node.name, None, False)
    is_class = value.numel() == _classes(node, dim)
    return Output(node.name, dim, is_class, is_choice=node.target in _SOFTMAX)


def _integers(node: Node, value: torch.Tensor) -> Output:
    """An output of integers or masks."""
    chosen = _chosen(node)
    call, place = taken_from(chosen)
    is_value = call is not chosen and place == 0  # a chosen value, and not its index
    if is_value or call.target not in (*_MAXIMUM, *_MINIMUM, _TOPK):
        return Output(node.name, None, value.numel() == 1)
    choice = call.args[0]
    assert isinstance(choice, Node)
    given = arguments(call)
    is_topk = call.target is _TOPK
    dim, count = given.get("dim", -1 if is_topk else None), given["k"] if is_topk else 1
    if _classes(choice, dim) < 2:
        return Output(node.name, dim, value.numel() == 1)
    largest = bool(given.get("largest", call.target not in _MINIMUM))
    return Output(node.name, dim, value.numel() == 1, choice, count, largest, is_choice=True)


def _chosen(node: Node) -> Node:
    """Return the integers underlying a node's, before changes of shape or type or an addition to
    all.
    """
    while node.target in _AS_THEY_ARE and len(node.all_input_nodes) == 1:
        (before,) = node.all_input_nodes
        if before.meta["val"].is_floating_point():
            break
        node = before
    return node


def _classes(node: Node, dim: int | None) -> int:
    value: torch.Tensor = node.meta["val"]
    return value.numel() if dim is None or not value.dim() else value.shape[dim]
