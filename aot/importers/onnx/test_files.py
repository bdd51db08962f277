# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile files end in one line, and take no more memory than their size suggests."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aot.errors import LoweringError
from aot.importers.onnx.expand import expanded
from aot.importers.onnx.file import MOST_ELEMENTS, read
from aot.importers.onnx.importing import Importer
from aot.importers.onnx.testing.cases import CASES
from aot.importers.onnx.testing.graphs import GraphCase, file, values
from aot.importers.onnx.testing.networks import by_rate, classifier, stream
from aot.importers.onnx.testing.quantized import quantized

_LIMIT_BYTES = 3 * 2**30  # in addition to torch's own mappings
_SHAPES = {"height": 8}


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """Limit the memory: excessive requests of a file then fail."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _LIMIT_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def _refusal(data: bytes) -> str:
    """Return the text of a refusal, "" for a file without one."""
    try:
        given = read(data)
        dims = {d.dim_param for i in given.model.graph.input for d in i.type.tensor_type.shape.dim}
        shapes = {name: size for name, size in _SHAPES.items() if name in dims}
        Importer(expanded(given), shapes, {}, None)
    except LoweringError as error:
        assert str(error) and "\n" not in str(error)
        return str(error)
    return ""


def _files() -> list[bytes]:
    layer = GraphCase("Conv", [values(1, 3, 8, 8), [values(4, 3, 3, 3)], [values(4)]])
    return [classifier(), by_rate(), stream(), quantized(layer)]


@pytest.mark.usefixtures("limited_memory")
def test_damaged_files() -> None:
    random = np.random.default_rng(5)
    refused = 0
    for data in _files():
        damaged = [data[: int(n)] for n in random.integers(0, len(data), 20)]
        for _ in range(100):
            changed = np.frombuffer(data, np.uint8).copy()
            # Most bytes are weights: the structure is before them, and at the end.
            structure = [*range(min(600, len(data))), *range(max(0, len(data) - 300), len(data))]
            places = random.choice(structure, int(random.integers(1, 6)))
            changed[places] = random.integers(0, 256, len(places))
            damaged.append(changed.tobytes())
        refused += sum(bool(_refusal(one)) for one in damaged)
    assert refused > 100


@pytest.mark.usefixtures("limited_memory")
def test_extreme_numbers() -> None:
    """Attributes and constants at the edges of their types, one at a time."""
    extremes = (-1, 0, 2**31 - 1, -(2**31), 2**26, 2**20)
    random = np.random.default_rng(0)
    refused = 0
    for case in CASES:
        model = onnx.load_model_from_string(case.bytes())
        value = int(random.choice(extremes))
        attributes = [
            a for a in model.graph.node[0].attribute if a.type == a.INTS or a.type == a.INT
        ]
        tensors = [t for t in model.graph.initializer if t.data_type == TensorProto.INT64]
        for attribute in attributes:
            if attribute.type == attribute.INTS:
                attribute.ints[0] = value
            else:
                attribute.i = value
        for tensor in tensors:
            array = numpy_helper.to_array(tensor).copy()
            array.reshape(-1)[:1] = value
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        if attributes or tensors:
            refused += bool(_refusal(model.SerializeToString()))
    assert refused > 20


def _bomb(operator: str, sizes: list[int]) -> bytes:
    """A small constant in the file, large after folding."""
    nodes = [
        helper.make_node(operator, ["one", "sizes"][operator == "ConstantOfShape" :], ["big"]),
        helper.make_node("Add", ["x", "big"], ["y"]),
    ]
    constants = {"one": np.ones([1] * len(sizes), np.float32), "sizes": np.array(sizes)}
    return file(nodes, {"x": [1]}, ["y"], constants)


def _deep() -> bytes:
    """Branches inside of branches."""
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [output])
    for _ in range(20):  # protobuf refuses 100 messages inside of each other
        branch = helper.make_node("If", ["yes"], ["y"], then_branch=graph, else_branch=graph)
        del branch.attribute[0]
        graph = helper.make_graph([branch], "g", [], [output])
    return file([*graph.node], {"x": [2]}, ["y"], {})


def _many() -> bytes:
    """Many large constants."""
    nodes = [helper.make_node("ConstantOfShape", ["sizes"], [f"c{i}"]) for i in range(99)]
    total = helper.make_node("Sum", ["x", *(f"c{i}" for i in range(99))], ["y"])
    return file([*nodes, total], {"x": [1]}, ["y"], {"sizes": np.array([2**23])})


@pytest.mark.usefixtures("limited_memory")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: _bomb("ConstantOfShape", [2**20, 2**20]), "the limits are 8 dimensions and"),
        (lambda: _bomb("Tile", [2**20, 2**20]), "the limits are 8 dimensions and"),
        (lambda: _bomb("Expand", [MOST_ELEMENTS, 2]), "the limits are 8 dimensions and"),
        (_many, "folded constants need more than 512 MB"),
        (_deep, "its input 'yes' is not computed"),
    ],
)
def test_bombs(make: Callable[[], bytes], text: str) -> None:
    found = _refusal(make())
    assert found and text in found
