# SPDX-License-Identifier: Apache-2.0
"""The reader of .pte files: decoded contents, and one clear message for damage."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from executorch.exir import schema as et
from executorch.exir.scalar_type import ScalarType

from aot.plan.plan import make_plan
from aot.plan.pte import read_program
from aot.plan.testing import Network, export_pte, sample_board
from aot.pte.conventions import Border, Needs, PteError, constant_methods, sealed
from aot.upstream.executorch import (
    PTEFile,
    deserialize_pte_binary,
    serialize_pte_binary,
)

OPS: Any = torch.ops.pl


@functools.cache
def sample() -> bytes:
    network = Network()
    return export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))


def test_decodes_calls_by_schema() -> None:
    program = read_program(sample())
    assert [call.op for call in program.calls] == [
        "pl::transpose",
        "pl::conv2d",
        "pl::depthwise_conv2d",
        "pl::add",
        "pl::max_pool2d",
        "pl::reshape",
        "pl::linear",
    ]
    conv = program.calls[1]
    assert conv.args["padding"] == [1, 1, 1, 1]
    assert conv.args["input_zero_point"] == 3
    assert conv.args["weight"].constant.shape == (8, 3, 3, 1)
    assert conv.constant("bias", "int32").tolist() == Network().conv_bias.tolist()
    assert conv.outputs[0].shape == (1, 8, 8, 8)
    assert program.calls[3].args["a"] is conv.outputs[0]


def test_reads_ports() -> None:
    program = read_program(sample())
    (source,), (result,) = program.inputs, program.outputs
    assert (source.shape, source.layout, source.scale, source.zero_point) == (
        (1, 1, 8, 8),
        "nchw",
        0.5,
        3,
    )
    assert result.shape == (1, 10)
    assert result.value is program.calls[-1].outputs[0]


class ChannelsLast(torch.nn.Module):
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(-128, 128).to(torch.int8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = OPS.channels_last_to_nhwc(x)
        result: torch.Tensor = OPS.nhwc_to_channels_last(OPS.lut(x, self.table))
        return result


@pytest.mark.parametrize(("channels", "size"), [(3, 4), (1, 4), (3, 1), (1, 1)])
def test_channels_last_border_moves_nothing(channels: int, size: int) -> None:
    """Shapes with one channel or one pixel have the same strides in both layouts."""
    x = torch.zeros(1, channels, size, size, dtype=torch.int8)
    x = x.to(memory_format=torch.channels_last)
    program = read_program(export_pte(ChannelsLast(), [x], layouts=(["nhwc"], ["nhwc"])))
    assert program.inputs[0].shape == program.outputs[0].shape == (1, size, size, channels)
    plan = make_plan(program, sample_board())
    assert [step.op.op for step in plan.sharing.steps] == ["pl::lut"]


class Norm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.amax(self.norm(x), dim=[1])


def test_decodes_aten_operators() -> None:
    program = read_program(export_pte(Norm(), [torch.zeros(1, 4, 8)]))
    last = program.calls[-1]
    assert last.op == "aten::amax.out"
    assert (last.args["dim"], last.args["keepdim"]) == ([1], False)


def test_refuses_other_ops_on_channels_last() -> None:
    class Direct(ChannelsLast):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = OPS.lut(x, self.table)
            return result

    x = torch.zeros(1, 3, 4, 4, dtype=torch.int8).to(memory_format=torch.channels_last)
    with pytest.raises(ValueError, match="dim_order"):
        read_program(export_pte(Direct(), [x], layouts=(["nhwc"], ["row_major"])))


def test_refuses_other_format_versions() -> None:
    network = Network()
    data = export_pte(network, [network.example()], pl_format_version=2)
    with pytest.raises(PteError, match=r"version \[2\].* reads version 1"):
        read_program(data)


def test_refuses_lists_of_another_length() -> None:
    network = Network()
    data = export_pte(network, [network.example()], pl_input_scales=[0.5, 0.5])
    with pytest.raises(PteError, match="1 inputs, 2 scales"):
        read_program(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a .pte"),
        (b"\x7fELF" + bytes(100), "is not a .pte"),
        (b"\x10\0\0\0BP08" + bytes(100), "bundled program"),
        (b"\x10\0\0\0ET12", "damaged"),
        (b"\x10\0\0\0ET12eh00\x20\0\0\0", "truncated"),
        (b"\xff" * 200, "is not a .pte"),
    ],
)
def test_foreign_files(data: bytes, message: str) -> None:
    with pytest.raises(PteError, match=message):
        read_program(data)


@pytest.mark.parametrize("part", range(20))
def test_truncated_files(part: int) -> None:
    data = sample()
    with pytest.raises(PteError, match=r"truncated|is not a .pte|damaged"):
        read_program(data[: len(data) * part // 20])


@pytest.mark.parametrize("part", range(1, 20))
def test_one_bit_flipped_anywhere(part: int) -> None:
    """Weights are included, where no structure shows the change."""
    data = bytearray(sample())
    data[len(data) * part // 20] ^= 1 << part % 8
    with pytest.raises(PteError, match="checksum is wrong"):
        read_program(bytes(data))


def test_no_checksum() -> None:
    with pytest.raises(PteError, match="not lowered by Pilotlight"):
        read_program(sample()[:-4])


def test_segment_out_of_range() -> None:
    data = bytearray(sample())
    data[24:32] = (len(data) - 8).to_bytes(8, "little")
    with pytest.raises(PteError, match="truncated"):
        read_program(bytes(data))


def _forward(program: et.Program) -> et.ExecutionPlan:
    return next(plan for plan in program.execution_plan if plan.name == "forward")


def _first_call(program: et.Program) -> et.KernelCall:
    call = _forward(program).chains[0].instructions[1].instr_args
    assert isinstance(call, et.KernelCall)
    return call


def _tensor(program: et.Program, index: int) -> et.Tensor:
    tensor = _forward(program).values[index].val
    assert isinstance(tensor, et.Tensor)
    return tensor


def _value_index(program: et.Program) -> None:
    _first_call(program).args[0] = 9999


def _negative_index(program: et.Program) -> None:
    _first_call(program).args[0] = -1


def _operator_index(program: et.Program) -> None:
    _first_call(program).op_index = 77


def _unknown_operator(program: et.Program) -> None:
    _forward(program).operators[1].name = "pl::conv9d"


def _functional_operator(program: et.Program) -> None:
    _forward(program).operators[1].overload = ""


def _too_few_arguments(program: et.Program) -> None:
    _first_call(program).args.pop()


def _wrong_kind(program: et.Program) -> None:
    args = _first_call(program).args
    args[1] = args[-4]


def _reads_before_written(program: et.Program) -> None:
    _forward(program).chains[0].instructions.reverse()


def _writes_twice(program: et.Program) -> None:
    instructions = _forward(program).chains[0].instructions
    instructions.insert(2, instructions[1])


def _delegate(program: et.Program, args: list[int]) -> None:
    """Put a delegate in place of the first convolution; `args` are its additional values."""
    plan = _forward(program)
    reference = et.BackendDelegateDataReference(et.DataLocation.INLINE, 0)
    specs = [et.CompileSpec(*spec) for spec in Needs().compile_specs().items()]
    plan.delegates.append(et.BackendDelegate("SomeBackend", reference, specs))
    program.backend_delegate_data.append(et.BackendDelegateInlineData(b"1234"))
    conv = _first_call(program).args
    call = et.DelegateCall(0, [conv[0], *args, conv[-1]] if args != [-1] else [])
    plan.chains[0].instructions[1].instr_args = call


def _delegate_without_tensors(program: et.Program) -> None:
    _delegate(program, [-1])


def _delegate_of_constants(program: et.Program) -> None:
    _delegate(program, [_first_call(program).args[1]])


def _delegate_of_results_first(program: et.Program) -> None:
    conv = _first_call(program).args
    _delegate(program, [conv[-1], conv[0]])


def _delegate_of_numbers(program: et.Program) -> None:
    _delegate(program, [_first_call(program).args[-4]])


def _delegate_of_channels_last(program: et.Program) -> None:
    _tensor(program, _first_call(program).args[-1]).dim_order = [0, 2, 3, 1]
    _delegate(program, [])


def _delegate_index(program: et.Program) -> None:
    _forward(program).chains[0].instructions[1].instr_args = et.DelegateCall(3, [])


def _jump(program: et.Program) -> None:
    _forward(program).chains[0].instructions[1].instr_args = et.JumpFalseCall(0, 0)


def _dtype(program: et.Program) -> None:
    _tensor(program, _forward(program).inputs[0]).scalar_type = ScalarType.LONG


def _rank(program: et.Program) -> None:
    tensor = _tensor(program, _forward(program).inputs[0])
    tensor.sizes, tensor.dim_order = [1] * 7, list(range(7))


def _dim_order(program: et.Program) -> None:
    _tensor(program, _forward(program).inputs[0]).dim_order = [0, 1, 1, 3]


def _no_elements(program: et.Program) -> None:
    _tensor(program, _forward(program).inputs[0]).sizes = [1, 0, 8, 8]


def _dynamic(program: et.Program) -> None:
    dynamic = et.TensorShapeDynamism.DYNAMIC_BOUND
    _tensor(program, _forward(program).inputs[0]).shape_dynamism = dynamic


def _constant_index(program: et.Program) -> None:
    _tensor(program, _first_call(program).args[1]).data_buffer_idx = 99


def _constant_too_short(program: et.Program) -> None:
    _tensor(program, _first_call(program).args[1]).sizes = [8, 300, 300, 1]


def _method_name(program: et.Program) -> None:
    _forward(program).name = "backward"


def _output_index(program: et.Program) -> None:
    _forward(program).outputs[0] = 12345


def _input_twice(program: et.Program) -> None:
    _forward(program).inputs *= 2


def _no_chain(program: et.Program) -> None:
    _forward(program).chains.clear()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_value_index, "9999"),
        (_negative_index, "-1"),
        (_operator_index, "operator 77"),
        (_unknown_operator, "conv9d.out, which does not exist here"),
        (_functional_operator, "which does not exist here"),
        (_too_few_arguments, "arguments"),
        (_wrong_kind, "weight"),
        (_reads_before_written, "before an instruction writes it"),
        (_writes_twice, "already written"),
        (_delegate_without_tensors, "SomeBackend.* has 0 inputs and 0 results"),
        (_delegate_of_constants, "writes value [0-9]+, which is a constant or already written"),
        (_delegate_of_results_first, "writes value [0-9]+, which is a constant or already written"),
        (_delegate_of_numbers, "is Int, not Tensor"),
        (_delegate_of_channels_last, "dim_order .*; tensors of delegates must be row-major"),
        (_delegate_index, "delegate 3"),
        (_jump, "JumpFalseCall"),
        (_dtype, "int64"),
        (_rank, "shape"),
        (_dim_order, "dim_order"),
        (_no_elements, "no elements"),
        (_dynamic, "dynamic shape"),
        (_constant_index, "99"),
        (_constant_too_short, "bytes of data"),
        (_method_name, "no method 'forward'"),
        (_output_index, "12345"),
        (_input_twice, "2 inputs, 1 scales"),
        (_no_chain, "0 chains"),
    ],
)
def test_damaged_structure(change: Callable[[et.Program], None], message: str) -> None:
    file = copy.deepcopy(deserialize_pte_binary(sample()))
    change(file.program)
    data = bytes(serialize_pte_binary(PTEFile(program=file.program)))
    with pytest.raises(PteError, match=message):
        read_program(sealed(data))


def test_the_same_tensor_for_two_inputs() -> None:
    network = Network()
    both: Any = constant_methods([Border(0.5, 3, "nchw")] * 2, [Border(0.5, 3, "row_major")])
    data = export_pte(network, [network.example()], **both)
    file = deserialize_pte_binary(data)
    _input_twice(file.program)
    with pytest.raises(PteError, match="an input twice"):
        read_program(sealed(bytes(serialize_pte_binary(file))))


def test_rewritten_file_is_as_good_as_the_first() -> None:
    """The structural damage above is the only difference."""
    data = bytes(serialize_pte_binary(deserialize_pte_binary(sample())))
    assert len(read_program(sealed(data)).calls) == len(read_program(sample()).calls)
