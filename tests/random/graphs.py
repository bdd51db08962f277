# SPDX-License-Identifier: Apache-2.0
"""Random models, in the form of source written by a person: layers, and lines of forward.

Every line is run when it is drawn, so shapes are known, and lines refused by torch itself are left
out. Lines that lowering is known to refuse are never drawn.
"""

from __future__ import annotations

import linecache
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import nn

_MAX_ELEMENTS = 600
_MAX_VALUE = 200.0
_SAMPLES = 6
_MAX_RESULTS = 3


@dataclass(frozen=True)
class Graph:
    """A model.

    Attributes:
      shapes: of the inputs x0, x1, ...
      channels_last: for each input, True if its memory layout is NHWC.
      layers: attributes made by __init__, with the names a0, a1, ...
      lines: of forward.
      results: returned by forward.
      quantization: of the whole, by "", and of layers, by name (docs/accuracy.md).
    """

    shapes: tuple[tuple[int, ...], ...]
    channels_last: tuple[bool, ...]
    layers: tuple[str, ...]
    lines: tuple[str, ...]
    results: str
    quantization: tuple[tuple[str, str], ...] = ()

    def source(self) -> str:
        inputs = ", ".join(f"x{i}" for i in range(len(self.shapes)))
        text = ["class Net(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        text += [f"        self.a{i} = {layer}" for i, layer in enumerate(self.layers)]
        text += [f"    def forward(self, {inputs}):"]
        text += [f"        {line}" for line in self.lines]
        return "\n".join([*text, f"        return {self.results}", ""])

    def __repr__(self) -> str:
        inputs = [
            f"{list(shape)}" + (" channels_last" if last else "")
            for shape, last in zip(self.shapes, self.channels_last, strict=True)
        ]
        how = f"# quantization {dict(self.quantization)}\n" if self.quantization else ""
        return f"\n# inputs {', '.join(inputs)}\n{how}{self.source()}"

    def module(self) -> nn.Module:
        """Return the model in eval mode, with weights from a fixed seed."""
        source = self.source()
        name = f"<random model {zlib.crc32(source.encode()):x}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F}
        exec(compile(source, name, "exec"), names)
        module: nn.Module = names["Net"]()
        return _seeded(module.eval())

    def samples(self, seed: int = 0, spread: float = 1.0) -> list[tuple[torch.Tensor, ...]]:
        """Return inputs, the same for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        return [
            tuple(
                _input(torch.randn(shape, generator=generator) * spread, last)
                for shape, last in zip(self.shapes, self.channels_last, strict=True)
            )
            for _ in range(_SAMPLES)
        ]


def _input(x: torch.Tensor, channels_last: bool) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last) if channels_last else x


def _seeded(module: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(len(list(module.modules())))
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point():
                drawn = torch.randn(tensor.shape, generator=generator) * 0.4
                tensor.copy_(drawn.abs() + 0.3 if name.endswith("running_var") else drawn)
    return module


class Writer:
    """Writer of a model line by line, with the values of its lines for one input."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self.inputs: list[tuple[tuple[int, ...], bool]] = []
        self.layers: list[str] = []
        self.lines: list[str] = []
        self.values: dict[str, torch.Tensor] = {}
        self._module = nn.Module()

    def add_input(self) -> None:
        shape = tuple(self.of(_SHAPES))
        last = len(shape) == 4 and self.of([False, True])
        name = f"x{len(self.inputs)}"
        self.inputs.append((shape, last))
        self.values[name] = _input(torch.randn(shape), last)

    def of(self, choices: Any) -> Any:
        return self._draw(st.sampled_from(choices))

    def integer(self, low: int, high: int) -> int:
        number: int = self._draw(st.integers(low, high))
        return number

    def permutation(self, rank: int) -> list[int]:
        return list(self._draw(st.permutations(range(rank))))

    def any(self, fits: Callable[[torch.Tensor], bool] = lambda _: True) -> str:
        """Return the name of a value; LookupError if none fits."""
        names = [n for n, v in self.values.items() if v.is_floating_point() and fits(v)]
        if not names:
            raise LookupError
        name: str = self.of(names[::-1])
        return name

    def dim(self, name: str) -> int:
        """Return one of a value's dimensions, counted from either end."""
        rank = self.values[name].dim()
        if rank == 0:
            raise LookupError
        return self.integer(-rank, rank - 1)

    def layer(self, source: str) -> str:
        """Return the name of a new layer or constant."""
        self.layers.append(source)
        return f"self.a{len(self.layers) - 1}"

    def add(self, template: Callable[[Writer], str]) -> None:
        """Add a line, unless torch refuses it or it gives nothing of use."""
        layers = len(self.layers)
        before = {name: value.clone() for name, value in self.values.items()}
        try:
            line = template(self)
            self.values = self._run(line, layers)
            if not all(map(_is_useful, self.values.values())):
                raise LookupError
        except (LookupError, RuntimeError, ValueError, TypeError):
            self.values = before  # an op in place may have changed them
            del self.layers[layers:]
        else:
            self.lines.append(line)

    def _run(self, line: str, layers: int) -> dict[str, torch.Tensor]:
        names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "self": self._module}
        for index, layer in enumerate(self.layers[layers:], layers):
            setattr(self._module, f"a{index}", eval(layer, names))
        _seeded(self._module.eval())
        names.update(self.values)
        with torch.no_grad():
            exec(line, names)
        return {n: v for n, v in names.items() if n[0] in "xv" and isinstance(v, torch.Tensor)}

    def new(self, expression: str) -> str:
        """Return a line with a new value."""
        return f"v{len(self.lines)} = {expression}"


def _is_useful(value: torch.Tensor) -> bool:
    if not 0 < value.numel() <= _MAX_ELEMENTS or value.dim() > 5:
        return False
    return not value.is_floating_point() or bool((value.abs() <= _MAX_VALUE).all())


_SHAPES = (
    (1, 4), (3, 5), (1, 1), (7,), (1,), (2, 3, 4), (1, 6, 7), (1, 1, 8), (5, 1, 3), (1, 3, 5, 4),
    (1, 4, 6, 6), (1, 2, 1, 7), (1, 8, 1, 1), (1, 1, 6, 5), (2, 3, 4, 4), (1, 5, 3, 1),
    (1, 2, 3, 2, 3), (2, 1, 2, 3, 2),
)  # fmt: skip


@st.composite
def graphs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Graph:
    """Return a model of one to three inputs and a few lines, with one to three results."""
    from tests.random.templates import TEMPLATES

    writer = Writer(draw)
    for _ in range(writer.integer(1, 3)):
        writer.add_input()
    for _ in range(writer.integer(1, 9)):
        writer.add(writer.of(TEMPLATES))
    if not any(name[0] == "v" for name in writer.values):
        writer.add(lambda w: w.new("torch.relu(x0)"))
    # After the target of an assignment or an in-place change.
    read = {name for line in writer.lines for name in re.findall(r"(?<!^)\bv\d+\b", line)}
    computed = [name for name in writer.values if name[0] == "v"]
    results = [name for name in computed if name not in read][-_MAX_RESULTS:]
    results = results or computed[-1:]
    results += draw(st.lists(st.sampled_from(computed), max_size=1))
    shapes, last = zip(*writer.inputs, strict=True)
    quantization = _quantization(writer, results)
    layers, lines = tuple(writer.layers), tuple(writer.lines)
    return Graph(shapes, last, layers, lines, ", ".join(results), quantization)


_FOUR_BITS = ("int8w4", "int8w4g32")


def _quantization(writer: Writer, results: list[str]) -> tuple[tuple[str, str], ...]:
    """Return int8 for all layers in half of the models.

    The others use int16, or other types for some layers, if the layers support them.
    """
    if writer.of([True, False]):
        return ()
    whole = writer.of(["int8", "int16"])
    found = [("", whole)]
    for name, layer in _used(writer, results):
        choices = ["int8", "int16"]
        if layer.startswith("nn.Linear"):
            choices += _FOUR_BITS
        if layer.startswith(("nn.Linear", "nn.Conv")):
            choices.append("float32")
        found.append((name, writer.of(choices)))
    return tuple(found)


def _used(writer: Writer, results: list[str]) -> list[tuple[str, str]]:
    """Return the modules needed by the results, by name; others are not exported."""
    needed, used = set(results), []
    for line in reversed(writer.lines):
        if needed.isdisjoint(re.findall(r"\b[xv]\d+\b", line.partition(" = ")[0])):
            continue
        needed.update(re.findall(r"\b[xv]\d+\b", line))
        used += [int(index) for index in re.findall(r"self\.a(\d+)", line)]
    named = [(f"a{index}", writer.layers[index]) for index in sorted(used)]
    return [(n, layer) for n, layer in named if not layer.startswith("nn.Parameter")]
