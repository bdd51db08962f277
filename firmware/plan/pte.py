# SPDX-License-Identifier: Apache-2.0
"""Reads a .pte (ExecuTorch program) into typed operator calls.

The last bytes of the file are a checksum of all others, which ExecuTorch's readers pass over. What
the file's structure is, ExecuTorch's own deserializer knows; everything that it hands over is
checked here, as a damaged file must end in one message and never in a wrong plan.
"""

import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from aot.pte.conventions import (
    CHECKSUM_BYTES,
    DTYPE_NAMES,
    FORMAT_VERSION,
    FORMAT_VERSION_METHOD,
    FORWARD,
    LAYOUTS,
    PteError,
    Side,
    checksum,
    layouts_method,
    scales_method,
    zero_points_method,
)
from firmware.plan import operators
from firmware.plan.executorch_format import deserialize_pte_binary
from firmware.plan.executorch_format import schema as et
from firmware.plan.operators import Argument
from firmware.plan.program import Port, Program, is_row_major
from kernels.common.kernel import OpCall, Value
from kernels.common.tensor import DTYPES, MAX_RANK

_MAGIC = b"ET12"
_BUNDLE_MAGIC = b"BP08"
_HEADER_MAGIC = b"eh00"
_HEADER_END = 40
_MAX_BYTES = 2**31 - 1

_T = TypeVar("_T")


def read_program(data: bytes) -> Program:
    """Decodes the bytes of a .pte; PteError if they are not one, or damaged, or beyond a plan."""
    _check_container(data)
    _check_sum(data)
    program = _deserialize(data)
    methods = {plan.name: plan for plan in program.execution_plan}
    if FORWARD not in methods:
        raise PteError(f"has no method {FORWARD!r}, only {sorted(methods)}")
    version = _constant_list(methods, FORMAT_VERSION_METHOD, int)
    if version != [FORMAT_VERSION]:
        raise PteError(
            f"has Pilotlight format version {version}, this plan compiler reads {FORMAT_VERSION}"
        )
    method = _Method(methods[FORWARD], [buffer.storage for buffer in program.constant_buffer])
    calls = method.calls()
    return Program(
        calls,
        _ports(methods, "input", method.inputs, method.nhwc_shapes),
        _ports(methods, "output", method.outputs, method.nhwc_shapes),
    )


def _check_container(data: bytes) -> None:
    """Checks what the deserializer does not: the file's kind, and that it is all there."""
    magic = data[4:8]
    if magic == _BUNDLE_MAGIC:
        raise PteError("is a bundled program (test data around a .pte), not a .pte")
    if magic != _MAGIC:
        raise PteError(
            f"is not a .pte: bytes 4 to 7 are {magic!r}, not {_MAGIC!r} ({len(data)} bytes)"
        )
    if data[8:12] != _HEADER_MAGIC:  # a program without constants has no extended header
        return
    if len(data) < _HEADER_END:
        raise PteError(f"is truncated: {len(data)} bytes")

    def field(offset: int) -> int:
        return int.from_bytes(data[offset : offset + 8], "little")

    program_size, segment_base, segment_size = field(16), field(24), field(32)
    end = max(program_size, segment_base + segment_size)
    if end > len(data):
        raise PteError(f"is truncated: {len(data)} bytes of {end}")
    if segment_base < program_size:
        raise PteError("is damaged: its segments begin inside of its program")


def _check_sum(data: bytes) -> None:
    if checksum(data[:-CHECKSUM_BYTES]) != data[-CHECKSUM_BYTES:]:
        raise PteError("is damaged, or was not lowered by Pilotlight: its checksum is wrong")


def _deserialize(data: bytes) -> et.Program:
    try:
        file = deserialize_pte_binary(data)
    except Exception as error:  # whatever a damaged flatbuffer provokes in the generated reader
        raise PteError(f"is damaged: its program cannot be decoded ({error})") from error
    if file.mutable_data is not None:
        raise PteError("has mutable buffers (state kept between runs): a plan has none")
    _complete(file.program)
    return file.program


def _complete(node: Any) -> None:
    """Absent fields: lists become empty ones, anything else that must be there is damage."""
    for name, hint in get_type_hints(type(node)).items():
        value = getattr(node, name)
        if value is None and get_origin(hint) is list:
            setattr(node, name, [])
        elif value is None and type(None) not in get_args(hint):
            raise PteError(f"is damaged: {type(node).__name__} has no {name}")
        for item in value if isinstance(value, list) else [value]:
            if is_dataclass(item):
                _complete(item)


def _constant_list(methods: Mapping[str, et.ExecutionPlan], name: str, kind: type[_T]) -> list[_T]:
    """What a constant method returns: a number, or the items of a list of numbers."""
    plan = methods.get(name)
    if plan is None:
        raise PteError(f"has no {name!r}: it was not lowered by Pilotlight, or is damaged")
    items: list[_T] = []
    for index in plan.outputs:
        value = _item(plan.values, index, f"{name}: value").val
        number = getattr(value, "int_val" if kind is int else "double_val", None)
        if not isinstance(number, kind):
            raise PteError(f"is damaged: {name} returns {type(value).__name__}")
        items.append(number)
    return items


def _ports(
    methods: Mapping[str, et.ExecutionPlan],
    side: Side,
    values: tuple[Value, ...],
    nhwc_shapes: Mapping[str, tuple[int, ...]],
) -> tuple[Port, ...]:
    scales = _constant_list(methods, scales_method(side), float)
    zero_points = _constant_list(methods, zero_points_method(side), int)
    layouts = _constant_list(methods, layouts_method(side), int)
    if not len(scales) == len(zero_points) == len(layouts) == len(values):
        raise PteError(
            f"is damaged: {len(values)} {side}s, {len(scales)} scales, "
            f"{len(zero_points)} zero points, {len(layouts)} layouts"
        )
    ports = []
    for index, value in enumerate(values):
        scale, zero_point, layout = scales[index], zero_points[index], layouts[index]
        if not (0.0 <= scale < math.inf and -128 <= zero_point <= 127):
            raise PteError(f"is damaged: {side} {index}: scale {scale}, zero point {zero_point}")
        name = _item(LAYOUTS, layout, f"{side} {index}: layout")
        shape = nhwc_shapes.get(value.name, value.shape)
        if name != "row_major" and len(shape) != 4:
            raise PteError(f"is damaged: {side} {index}: {name} with shape {list(shape)}")
        ports.append(Port(value, shape, scale, zero_point, name))
    return tuple(ports)


def _item(items: Any, index: Any, what: str) -> Any:
    if not isinstance(index, int) or not 0 <= index < len(items):
        raise PteError(f"is damaged: {what} {index} of {len(items)}")
    return items[index]


class _Method:
    """Decodes the values and instructions of one execution plan."""

    def __init__(self, plan: et.ExecutionPlan, constants: list[bytes]) -> None:
        self._plan = plan
        self._constants = constants
        self._tensors: dict[int, Value] = {}
        self._dim_orders: dict[str, tuple[int, ...]] = {}
        self._written: set[int] = set()
        self.nhwc_shapes: dict[str, tuple[int, ...]] = {}
        """Shape in memory by name of the tensors at a channels_last border.

        It is not always what dim_order says: with one channel, dim_order has several readings."""
        self.inputs = tuple(self._input(index) for index in plan.inputs)
        self.outputs: tuple[Value, ...] = ()

    def calls(self) -> tuple[OpCall, ...]:
        """Decodes all instructions, then the outputs."""
        if len(self._plan.chains) != 1:
            raise PteError(f"is damaged: {len(self._plan.chains)} chains of instructions, not 1")
        instructions = self._plan.chains[0].instructions
        calls = tuple(self._call(i, item.instr_args) for i, item in enumerate(instructions))
        self.outputs = tuple(self._read(index, "an output") for index in self._plan.outputs)
        return calls

    def _input(self, index: int) -> Value:
        value = self._tensor(index, "an input")
        if value.constant is not None or index in self._written:
            raise PteError(f"is damaged: input value {index} is a constant, or given twice")
        self._written.add(index)
        return value

    def _call(self, position: int, instruction: Any) -> OpCall:
        where = f"instruction {position}"
        if isinstance(instruction, et.DelegateCall):
            delegate = _item(self._plan.delegates, instruction.delegate_index, "delegate")
            raise PteError(f"{where} is for the delegate {delegate.id!r}: no plan can run it")
        if not isinstance(instruction, et.KernelCall):
            raise PteError(f"{where} is a {type(instruction).__name__}: a plan has calls only")
        name = _item(self._plan.operators, instruction.op_index, f"{where}: operator")
        operator = operators.find(name.name, name.overload)
        if operator is None:
            raise PteError(f"{where} calls {name.name}.{name.overload}: there is no such operator")
        where += f" ({operator.name})"
        indices = list(instruction.args)
        out_count = len(operator.outputs)
        if len(indices) != len(operator.arguments) + out_count + 1:
            raise PteError(f"is damaged: {where} has {len(indices)} arguments")
        args = {
            argument.name: self._argument(argument, index, where)
            for argument, index in zip(operator.arguments, indices, strict=False)
        }
        out_indices = indices[len(operator.arguments) : -1]
        returned = indices[-1:]
        if out_count > 1:
            returned = self._value(indices[-1], et.TensorList, f"{where}: results").items
        if list(returned) != out_indices:
            raise PteError(f"is damaged: {where} writes {out_indices} and returns {returned}")
        outputs = tuple(self._write(index, where) for index in out_indices)
        call = OpCall(operator.name, args, outputs)
        if operator.name == "pl::channels_last_to_nhwc":
            self.nhwc_shapes[args["input"].name] = outputs[0].shape
        elif operator.name == "pl::nhwc_to_channels_last":
            self.nhwc_shapes[outputs[0].name] = args["input"].shape
        return operators.in_memory_order(call, self._dim_orders)

    def _argument(self, argument: Argument, index: int, where: str) -> Any:
        where = f"{where}: {argument.name}"
        value = _item(self._plan.values, index, f"{where}: value").val
        if isinstance(value, et.Null) and argument.optional:
            return None
        match argument.kind:
            case "Tensor":
                return self._read(index, where)
            case "List[Tensor]":
                items = self._value(index, et.TensorList, where).items
                return [self._read(item, where) for item in items]
            case "List[int]":
                items = self._value(index, et.IntList, where).items
                return [int(self._value(item, et.Int, where).int_val) for item in items]
            case "bool" if isinstance(value, et.Bool):
                return bool(value.bool_val)
            case "int" if isinstance(value, et.Int):
                return int(value.int_val)
            case "number" if isinstance(value, et.Int):
                return int(value.int_val)
            case "float" | "number" if isinstance(value, et.Double):
                return float(value.double_val)
            case "float" if isinstance(value, et.Int):
                return float(value.int_val)
        raise PteError(f"is damaged: {where} is {type(value).__name__}, not {argument.kind}")

    def _value(self, index: Any, kind: type[_T], where: str) -> _T:
        value = _item(self._plan.values, index, f"{where}: value").val
        if not isinstance(value, kind):
            raise PteError(f"is damaged: {where} is {type(value).__name__}, not {kind.__name__}")
        return value

    def _read(self, index: int, where: str) -> Value:
        value = self._tensor(index, where)
        if value.constant is None and index not in self._written:
            raise PteError(f"is damaged: {where} reads value {index} before it is written")
        return value

    def _write(self, index: int, where: str) -> Value:
        value = self._tensor(index, where)
        if value.constant is not None or index in self._written:
            raise PteError(f"is damaged: {where} writes value {index} again, or a constant")
        self._written.add(index)
        return value

    def _tensor(self, index: int, where: str) -> Value:
        if index not in self._tensors:
            tensor = self._value(index, et.Tensor, where)
            self._tensors[index] = self._decode_tensor(index, tensor)
        return self._tensors[index]

    def _decode_tensor(self, index: int, tensor: et.Tensor) -> Value:
        name = f"value {index}"
        dtype = DTYPE_NAMES.get(tensor.scalar_type)
        sizes, order = tuple(tensor.sizes), tuple(tensor.dim_order)
        if dtype is None:
            raise PteError(
                f"{name} is {tensor.scalar_type.name.lower()}: a plan has tensors of "
                f"{', '.join(DTYPES)} only"
            )
        if tensor.shape_dynamism != et.TensorShapeDynamism.STATIC:
            raise PteError(f"{name} has a dynamic shape: a plan's shapes are fixed")
        if len(sizes) > MAX_RANK or sorted(order) != list(range(len(sizes))):
            raise PteError(f"is damaged: {name} has shape {sizes}, dim_order {order}")
        if any(size <= 0 for size in sizes):
            raise PteError(f"{name} has no elements: shape {list(sizes)}")
        byte_size = math.prod(sizes) * DTYPES[dtype].bytes
        if byte_size > _MAX_BYTES or tensor.storage_offset != 0:
            raise PteError(f"is damaged: {name} has shape {sizes}, offset {tensor.storage_offset}")
        shape = tuple(sizes[dim] for dim in order)
        if tensor.data_buffer_idx > 0:
            data = self._constant_bytes(name, tensor, byte_size)
            array = np.frombuffer(data, np.dtype(dtype)).reshape(shape)
            array = np.ascontiguousarray(array.transpose(np.argsort(order)))
            return Value(name, dtype, sizes, array)
        if is_row_major(sizes, order):
            return Value(name, dtype, sizes)
        self._dim_orders[name] = order
        return Value(name, dtype, shape)

    def _constant_bytes(self, name: str, tensor: et.Tensor, byte_size: int) -> bytes:
        info = tensor.extra_tensor_info
        if info is not None and info.location != et.TensorDataLocation.SEGMENT:
            raise PteError(f"{name} has its data in another file: export without external data")
        if tensor.allocation_info is not None:
            raise PteError(f"{name} is a mutable buffer with a first value: a plan has no state")
        data = _item(self._constants, tensor.data_buffer_idx, f"{name}: constant")
        assert isinstance(data, bytes)
        if len(data) < byte_size:
            raise PteError(f"is damaged: {name} has {len(data)} bytes of data of {byte_size}")
        return data[:byte_size]
