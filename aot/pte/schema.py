# SPDX-License-Identifier: Apache-2.0
"""The tables of ExecuTorch's program.fbs that plans read, with their field numbers.

ExecuTorch's own classes are equivalent, but importing them imports all of torch.export. A test
checks that both read the same data from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from aot.pte.flatbuffer import number, numbers, octets, table, tables, text, union

STATIC_SHAPE = 0
DATA_IN_SEGMENT = 0
PAYLOAD_IN_SEGMENT = 1


@dataclass
class AllocationDetails:
    memory_id: int = number(0, "I")
    memory_offset_low: int = number(1, "I")
    memory_offset_high: int = number(2, "I")


@dataclass
class ExtraTensorInfo:
    location: int = number(2, "b")


@dataclass
class Tensor:
    scalar_type: int = number(0, "b")
    storage_offset: int = number(1, "i")
    sizes: list[int] = numbers(2, "i")
    dim_order: list[int] = numbers(3, "B")
    data_buffer_idx: int = number(5, "I")
    allocation_info: AllocationDetails | None = table(6, AllocationDetails, optional=True)
    shape_dynamism: int = number(8, "b")
    extra_tensor_info: ExtraTensorInfo | None = table(9, ExtraTensorInfo, optional=True)


@dataclass
class Null:
    pass


@dataclass
class Int:
    int_val: int = number(0, "q")


@dataclass
class Bool:
    bool_val: bool = number(0, "?")


@dataclass
class Double:
    double_val: float = number(0, "d")


@dataclass
class String:
    string_val: str = text(0)


@dataclass
class IntList:
    items: list[int] = numbers(0, "q")


@dataclass
class DoubleList:
    items: list[float] = numbers(0, "d")


@dataclass
class BoolList:
    items: list[bool] = numbers(0, "?")


@dataclass
class TensorList:
    items: list[int] = numbers(0, "i")


@dataclass
class OptionalTensorList:
    items: list[int] = numbers(0, "i")


AnyValue = (
    Null
    | Int
    | Bool
    | Double
    | Tensor
    | String
    | IntList
    | DoubleList
    | BoolList
    | TensorList
    | OptionalTensorList
)


@dataclass
class EValue:
    val: AnyValue = union(1, get_args(AnyValue))


@dataclass
class Operator:
    name: str = text(0)
    overload: str = text(1)


@dataclass
class KernelCall:
    op_index: int = number(0, "i")
    args: list[int] = numbers(1, "i")


@dataclass
class DelegateCall:
    delegate_index: int = number(0, "i")
    args: list[int] = numbers(1, "i")


@dataclass
class MoveCall:
    pass


@dataclass
class JumpFalseCall:
    pass


@dataclass
class FreeCall:
    pass


AnyInstruction = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


@dataclass
class Instruction:
    instr_args: AnyInstruction = union(1, get_args(AnyInstruction))


@dataclass
class Chain:
    instructions: list[Instruction] = tables(2, Instruction)


@dataclass
class BackendDelegateDataReference:
    location: int = number(0, "b")
    index: int = number(1, "I")


@dataclass
class CompileSpec:
    key: str = text(0)
    value: bytes = octets(1)


@dataclass
class BackendDelegate:
    id: str = text(0)
    processed: BackendDelegateDataReference = table(1, BackendDelegateDataReference)
    compile_specs: list[CompileSpec] = tables(2, CompileSpec)


@dataclass
class ExecutionPlan:
    name: str = text(0)
    values: list[EValue] = tables(2, EValue)
    inputs: list[int] = numbers(3, "i")
    outputs: list[int] = numbers(4, "i")
    chains: list[Chain] = tables(5, Chain)
    operators: list[Operator] = tables(6, Operator)
    delegates: list[BackendDelegate] = tables(7, BackendDelegate)


@dataclass
class BackendDelegateInlineData:
    data: bytes = octets(0)


@dataclass
class DataSegment:
    offset: int = number(0, "Q")
    size: int = number(1, "Q")


@dataclass
class SubsegmentOffsets:
    segment_index: int = number(0, "I")
    offsets: list[int] = numbers(1, "Q")


@dataclass
class Program:
    execution_plan: list[ExecutionPlan] = tables(1, ExecutionPlan)
    backend_delegate_data: list[BackendDelegateInlineData] = tables(3, BackendDelegateInlineData)
    segments: list[DataSegment] = tables(4, DataSegment)
    constant_segment: SubsegmentOffsets | None = table(5, SubsegmentOffsets, optional=True)
    mutable_data_segments: list[SubsegmentOffsets] = tables(6, SubsegmentOffsets)
