# SPDX-License-Identifier: Apache-2.0
"""Decodes a .pte into typed operator calls.

The file's contents are checked here: a damaged file must end in one message and never in a wrong
plan.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from aot.plan import operators
from aot.plan.delegate_call import delegate_op_call
from aot.plan.executorch_arm import border_arguments, read_artefact
from aot.plan.operators import Argument
from aot.plan.program import PlanProgram, PlanState, Port, is_row_major, save_program
from aot.pte import schema
from aot.pte.conventions import DTYPE_NAMES, STATE_WRITE, Border, PteError, Side
from aot.pte.reader import PteContents, item_at
from kernels.common.kernel import AnyArray, OpCall, Value
from kernels.common.tensor import DTYPES, MAX_RANK

_MAX_BYTES = 2**31 - 1
_RANKS = {"nchw": 4, "nhwc": 4, "nlc": 3}
# PyTorch's numbers of dtypes without support in plans.
_OTHER_DTYPES = {0: "uint8", 4: "int64", 5: "float16", 7: "float64"}
_INSTEAD = {
    "int64": "; places that nothing reads, as of a MaxPool1d that ExecuTorch leaves to the CPU, "
    "are left out of a model that is lowered here",
}

_T = TypeVar("_T")


def read_program(data: bytes) -> PlanProgram:
    """Decode a .pte. Raise PteError if it is damaged, or beyond the plan compiler."""
    artefact = read_artefact(data)
    method = _Method(artefact)
    calls = method.calls()
    return PlanProgram(
        calls,
        _ports("input", method.inputs, artefact.inputs, method.nhwc_shapes),
        _ports("output", method.outputs, artefact.outputs, method.nhwc_shapes),
        method.states(),
    )


def keep_program(path: Path, data: bytes) -> None:
    """Decode a .pte for plans of the same build.

    An unsupported .pte may be for another runtime: the plans report the error.
    """
    try:
        save_program(path, read_program(data))
    except PteError as error:
        save_program(path, error)


def _ports(
    side: Side,
    values: Sequence[Value],
    borders: Sequence[Border],
    nhwc_shapes: Mapping[str, tuple[int, ...]],
) -> tuple[Port, ...]:
    ports = []
    for index, (value, border) in enumerate(zip(values, borders, strict=True)):
        shape = nhwc_shapes.get(value.name, value.shape)
        if len(shape) != _RANKS.get(border.layout, len(shape)):
            raise PteError(f"is damaged: {side} {index}: {border.layout} with shape {list(shape)}")
        ports.append(
            Port(value, shape, border.scale, border.zero_point, border.layout, border.name)
        )
    return tuple(ports)


def _is_state(tensor: schema.Tensor) -> bool:
    """Return True if a tensor has both an initial value and a place in memory."""
    return tensor.data_buffer_idx > 0 and tensor.allocation_info is not None


class _Method:
    """Decoder of the values and instructions of one execution plan."""

    def __init__(self, artefact: PteContents) -> None:
        plan = artefact.forward
        self._plan = plan
        self._modules = artefact.modules
        self._constants = artefact.constants
        self._initial = artefact.initial
        self._delegates = artefact.delegates
        self._views = artefact.views
        self._states: dict[int, AnyArray] = {}  # their first elements, by value
        self._new: dict[int, Value] = {}  # their new values, likewise
        self._tensors: dict[int, Value] = {}
        self._dim_orders: dict[str, tuple[int, ...]] = {}
        self._written: set[int] = set()
        self.nhwc_shapes: dict[str, tuple[int, ...]] = {}
        """Shape in memory, by name, of channels_last inputs and outputs.

        It may differ from dim_order: with one channel, dim_order has several interpretations.
        """
        for index, item in enumerate(plan.values):
            if isinstance(item.val, schema.Tensor) and _is_state(item.val):
                self._tensor(index, "state")
        self.inputs = tuple(self._input(index) for index in plan.inputs)
        self.outputs: tuple[Value, ...] = ()

    def calls(self) -> tuple[OpCall, ...]:
        """Decode all instructions, then the outputs."""
        if len(self._plan.chains) != 1:
            raise PteError(
                f"is damaged: {len(self._plan.chains)} chains of instructions, where one is "
                "expected"
            )
        instructions = self._plan.chains[0].instructions
        calls = tuple(self._call(i, item.instr_args) for i, item in enumerate(instructions))
        self.outputs = tuple(self._read(index, "an output") for index in self._plan.outputs)
        return calls

    def states(self) -> tuple[PlanState, ...]:
        """Return all states, after the calls are decoded."""
        constant = self._states.keys() - self._new.keys()
        if constant:
            raise PteError(
                f"is damaged: value {min(constant)} is state, but no instruction writes it"
            )
        return tuple(
            PlanState(self._tensors[index], initial, self._new[index])
            for index, initial in self._states.items()
        )

    def _input(self, index: int) -> Value:
        value = self._tensor(index, "an input")
        if value.constant is not None or index in self._written:
            raise PteError(f"is damaged: input value {index} is a constant, or an input twice")
        self._written.add(index)
        return value

    def _call(self, position: int, instruction: Any) -> OpCall:
        where = f"instruction {position}"
        if isinstance(instruction, schema.DelegateCall):
            return self._delegate_call(position, instruction)
        if not isinstance(instruction, schema.KernelCall):
            raise PteError(f"{where} is a {type(instruction).__name__}; a plan supports calls only")
        name = item_at(self._plan.operators, instruction.op_index, f"{where}: operator")
        if (name.name, name.overload) == STATE_WRITE:
            return self._state_write(position, list(instruction.args))
        if self._new:
            raise PteError(f"{where} comes after the calls that write the state; they must be last")
        border = border_arguments(
            name.name, [self._plain(index, where) for index in instruction.args], where
        )
        if border is not None:
            return self._border_call(position, list(instruction.args), *border)
        operator = operators.find(name.name, name.overload)
        if operator is None:
            raise PteError(
                f"{where} calls {name.name}.{name.overload}, which does not exist here. An "
                "operator of your own needs its kernel in `kernels` of plan_library"
            )
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
            returned = self._value(indices[-1], schema.TensorList, f"{where}: results").items
        if list(returned) != out_indices:
            raise PteError(
                f"is damaged: {where} writes values {out_indices}, but returns {returned}"
            )
        outputs = tuple(self._write(index, where) for index in out_indices)
        call = OpCall(operator.name, args, outputs, str(position), self._modules[position])
        if operator.name == "pl::channels_last_to_nhwc":
            self.nhwc_shapes[args["input"].name] = outputs[0].shape
        elif operator.name == "pl::nhwc_to_channels_last":
            self.nhwc_shapes[outputs[0].name] = args["input"].shape
        return operators.in_memory_order(call, self._dim_orders)

    def _border_call(
        self, position: int, indices: Sequence[int], op: str, given: Mapping[str, Any]
    ) -> OpCall:
        """Return a conversion between float and integers, in the form of ExecuTorch's backends."""
        where = f"instruction {position} ({op})"
        if indices[-2] != indices[-1]:
            raise PteError(
                f"is damaged: {where} writes value {indices[-2]}, but returns {indices[-1]}"
            )
        args = {"input": self._read(indices[0], where), **given}
        outputs = (self._write(indices[-1], where),)
        call = OpCall(op, args, outputs, str(position), self._modules[position])
        return operators.in_memory_order(call, self._dim_orders)

    def _plain(self, index: int, where: str) -> int | float | None:
        """Return a value if it is a number, else None."""
        value = item_at(self._plan.values, index, f"{where}: value").val
        if isinstance(value, schema.Double):
            return float(value.double_val)
        return int(value.int_val) if isinstance(value, schema.Int) else None

    def _delegate_call(self, position: int, instruction: schema.DelegateCall) -> OpCall:
        """Return a delegate's call.

        Arguments that have a value are inputs, the others are results.
        """
        where = f"instruction {position}"
        delegate = item_at(self._delegates, instruction.delegate_index, f"{where}: delegate")
        where += f" (delegate {delegate.backend})"
        count = 0
        while count < len(instruction.args) and self._has_value(instruction.args[count]):
            count += 1
        inputs = tuple(self._read(index, where) for index in instruction.args[:count])
        outputs = tuple(self._write(index, where) for index in instruction.args[count:])
        if not inputs or not outputs:
            raise PteError(
                f"is damaged: {where} has {len(inputs)} inputs and {len(outputs)} results"
            )
        for value in (*inputs, *outputs):
            if value.name in self._dim_orders:
                raise PteError(
                    f"{where} takes or gives {value.name} with dim_order "
                    f"{list(self._dim_orders[value.name])}; tensors of delegates must be row-major"
                )
        module = self._modules[position]
        return delegate_op_call(delegate, inputs, outputs, str(position), module)

    def _state_write(self, position: int, args: Sequence[int]) -> OpCall:
        """Return a copy into a state, as a cat of one tensor."""
        where = f"instruction {position}"
        if len(args) != 4 or args[0] != args[-1]:
            raise PteError(f"is damaged: {where} copies with wrong arguments: {list(args)}")
        old, value = self._tensor(args[0], where), self._read(args[1], where)
        if args[0] not in self._states or args[0] in self._new:
            raise PteError(f"{where} writes {old.name}, which is not state, or was written before")
        if (value.shape, value.dtype) != (old.shape, old.dtype):
            raise PteError(
                f"{where} writes {value.dtype}{list(value.shape)} into state of "
                f"{old.dtype}{list(old.shape)}"
            )
        shape = old.shape or (1,)
        new = self._new[args[0]] = Value(f"{old.name} (new)", old.dtype, shape)
        given = {"inputs": [replace(value, shape=shape)], "dim": 0}
        return OpCall("pl::cat", given, (new,), str(position), self._modules[position])

    def _argument(self, argument: Argument, index: int, where: str) -> Any:
        where = f"{where}: {argument.name}"
        value = item_at(self._plan.values, index, f"{where}: value").val
        if isinstance(value, schema.Null) and argument.optional:
            return None
        match argument.kind:
            case "Tensor":
                return self._read(index, where)
            case "List[Tensor]":
                items = self._value(index, schema.TensorList, where).items
                return [self._read(item, where) for item in items]
            case "List[int]":
                items = self._value(index, schema.IntList, where).items
                return [int(self._value(item, schema.Int, where).int_val) for item in items]
            case "bool" if isinstance(value, schema.Bool):
                return bool(value.bool_val)
            case "int" if isinstance(value, schema.Int):
                return int(value.int_val)
            case "number" if isinstance(value, schema.Int):
                return int(value.int_val)
            case "float" | "number" if isinstance(value, schema.Double):
                return float(value.double_val)
            case "float" if isinstance(value, schema.Int):
                return float(value.int_val)
        raise PteError(f"is damaged: {where} is {type(value).__name__}, not {argument.kind}")

    def _value(self, index: Any, kind: type[_T], where: str) -> _T:
        value = item_at(self._plan.values, index, f"{where}: value").val
        if not isinstance(value, kind):
            raise PteError(f"is damaged: {where} is {type(value).__name__}, not {kind.__name__}")
        return value

    def _read(self, index: int, where: str) -> Value:
        value = self._tensor(index, where)
        if value.constant is None and not self._has_value(index):
            raise PteError(
                f"is damaged: {where} reads value {index} before an instruction writes it"
            )
        if value.constant is None and index not in self._written:
            return replace(self._tensors[self._views[index]], shape=value.shape)
        return value

    def _has_value(self, index: int) -> bool:
        """Return True if a value was written, or is a view of a written value."""
        return index in self._written or self._views.get(index) in self._written

    def _write(self, index: int, where: str) -> Value:
        value = self._tensor(index, where)
        if value.constant is not None or index in self._written:
            raise PteError(
                f"is damaged: {where} writes value {index}, which is a constant or already written"
            )
        self._written.add(index)
        return value

    def _tensor(self, index: int, where: str) -> Value:
        if index not in self._tensors:
            tensor = self._value(index, schema.Tensor, where)
            self._tensors[index] = self._decode_tensor(index, tensor, where)
        return self._tensors[index]

    def _decode_tensor(self, index: int, tensor: schema.Tensor, where: str) -> Value:
        name = f"value {index}"
        dtype = DTYPE_NAMES.get(tensor.scalar_type)
        sizes, order = tuple(tensor.sizes), tuple(tensor.dim_order)
        if dtype is None:
            found = _OTHER_DTYPES.get(tensor.scalar_type, f"of type {tensor.scalar_type}")
            raise PteError(
                f"{name} of {where} is {found}; a plan supports tensors of "
                f"{', '.join(DTYPES)}{_INSTEAD.get(found, '')}"
            )
        if tensor.shape_dynamism != schema.STATIC_SHAPE:
            raise PteError(f"{name} has a dynamic shape; a plan needs fixed shapes")
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
            if not _is_state(tensor):
                return Value(name, dtype, sizes, array)
            if not is_row_major(sizes, order):
                raise PteError(
                    f"{name} is state with dim_order {list(order)}; state must be row-major"
                )
            self._states[index] = array
            self._written.add(index)
        if is_row_major(sizes, order):
            return Value(name, dtype, sizes)
        self._dim_orders[name] = order
        return Value(name, dtype, shape)

    def _constant_bytes(self, name: str, tensor: schema.Tensor, byte_size: int) -> bytes:
        info = tensor.extra_tensor_info
        if info is not None and info.location != schema.DATA_IN_SEGMENT:
            raise PteError(f"{name} has its data in another file: export without external data")
        buffers = self._initial if _is_state(tensor) else self._constants
        data = item_at(buffers, tensor.data_buffer_idx, f"{name}: constant")
        assert isinstance(data, bytes)
        if len(data) < byte_size:
            raise PteError(
                f"is damaged: {name} has {len(data)} bytes of data; its shape needs {byte_size}"
            )
        return data[:byte_size]
