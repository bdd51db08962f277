# SPDX-License-Identifier: Apache-2.0
"""Command words of Ethos-U55, U65 and U85: one table for the disassembler and the NPU model.

A command is one 32-bit word (`cmd0`), or that word and a payload word (`cmd1`). Word 0 holds the
opcode in bits 9:0, the kind in bits 15:14 (0 or 1) and a parameter in bits 31:16. A field is in the
parameter, or in the payload if its name is followed by `=payload`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Family(Enum):
    """NPUs with the same set of commands."""

    U55 = "u55"  # Ethos-U55 and Ethos-U65
    U85 = "u85"


@dataclass(frozen=True)
class Field:
    """Bits `low` to `high` of the parameter, or of the payload word."""

    name: str
    high: int
    low: int
    in_payload: bool

    def value(self, word: int, payload: int) -> int:
        """Return the unsigned value of this field in a command."""
        source = payload if self.in_payload else word >> 16
        return source >> self.low & (1 << self.high - self.low + 1) - 1


@dataclass(frozen=True)
class Command:
    """One command; `key` is the low half of its first word."""

    key: int
    name: str
    fields: tuple[Field, ...]

    @property
    def has_payload(self) -> bool:
        """Return True if a second word follows."""
        return self.key >> 14 == 1

    def mask(self, in_payload: bool) -> int:
        """Return the defined bits of the parameter or of the payload."""
        return sum(
            (1 << field.high + 1) - (1 << field.low)
            for field in self.fields
            if field.in_payload == in_payload
        )


# kind opcode name fields
_COMMON = """
0 0 OP_STOP mask[15:0]
0 1 OP_IRQ mask[15:0]
0 3 OP_DEPTHWISE
0 5 OP_POOL pooling_mode[2:0]
0 6 OP_ELEMENTWISE elementwise_mode[5:0]
0 16 OP_DMA_START
0 19 OP_PMU_MASK enable[0:0]
0 256 SET_IFM_PAD_TOP pad[6:0]
0 257 SET_IFM_PAD_LEFT pad[6:0]
0 258 SET_IFM_PAD_RIGHT pad[7:0]
0 259 SET_IFM_PAD_BOTTOM pad[7:0]
0 260 SET_IFM_DEPTH_M1 depth_m1[15:0]
0 263 SET_IFM_UPSCALE mode[1:0]
0 265 SET_IFM_ZERO_POINT zero_point[15:0]
0 266 SET_IFM_WIDTH0_M1 width_m1[15:0]
0 267 SET_IFM_HEIGHT0_M1 height_m1[15:0]
0 268 SET_IFM_HEIGHT1_M1 height_m1[15:0]
0 271 SET_IFM_REGION region[2:0]
0 273 SET_OFM_WIDTH_M1 width_m1[15:0]
0 274 SET_OFM_HEIGHT_M1 height_m1[15:0]
0 275 SET_OFM_DEPTH_M1 depth_m1[15:0]
0 280 SET_OFM_ZERO_POINT zero_point[15:0]
0 282 SET_OFM_WIDTH0_M1 width_m1[15:0]
0 283 SET_OFM_HEIGHT0_M1 height_m1[15:0]
0 284 SET_OFM_HEIGHT1_M1 height_m1[15:0]
0 287 SET_OFM_REGION region[2:0]
0 288 SET_KERNEL_WIDTH_M1 width_m1[15:0]
0 289 SET_KERNEL_HEIGHT_M1 height_m1[15:0]
0 290 SET_KERNEL_STRIDE stride_x_lsb[0:0] stride_y_lsb[1:1] weight_order[2:2] dilation_x[3:3] \
dilation_y[4:4] decomposition[5:5] stride_x_msb[6:6] stride_y_msb[9:9]
0 294 SET_ACTIVATION_MIN clip_boundary[15:0]
0 295 SET_ACTIVATION_MAX clip_boundary[15:0]
0 296 SET_WEIGHT_REGION region[2:0]
0 297 SET_SCALE_REGION region[2:0]
0 306 SET_DMA0_SIZE0 size[15:0]
0 307 SET_DMA0_SIZE1 size[15:0]
0 393 SET_IFM2_ZERO_POINT zero_point[15:0]
0 394 SET_IFM2_WIDTH0_M1 width_m1[15:0]
0 395 SET_IFM2_HEIGHT0_M1 height_m1[15:0]
0 396 SET_IFM2_HEIGHT1_M1 height_m1[15:0]
0 399 SET_IFM2_REGION region[2:0]
1 0 SET_IFM_BASE0 high[7:0] address=payload[31:0]
1 1 SET_IFM_BASE1 high[7:0] address=payload[31:0]
1 2 SET_IFM_BASE2 high[7:0] address=payload[31:0]
1 3 SET_IFM_BASE3 high[7:0] address=payload[31:0]
1 4 SET_IFM_STRIDE_X high[7:0] stride=payload[31:0]
1 5 SET_IFM_STRIDE_Y high[7:0] stride=payload[31:0]
1 6 SET_IFM_STRIDE_C high[7:0] stride=payload[31:0]
1 16 SET_OFM_BASE0 high[7:0] address=payload[31:0]
1 17 SET_OFM_BASE1 high[7:0] address=payload[31:0]
1 18 SET_OFM_BASE2 high[7:0] address=payload[31:0]
1 19 SET_OFM_BASE3 high[7:0] address=payload[31:0]
1 20 SET_OFM_STRIDE_X high[7:0] stride=payload[31:0]
1 21 SET_OFM_STRIDE_Y high[7:0] stride=payload[31:0]
1 22 SET_OFM_STRIDE_C high[7:0] stride=payload[31:0]
1 32 SET_WEIGHT_BASE high[7:0] address=payload[31:0]
1 33 SET_WEIGHT_LENGTH length=payload[31:0]
1 34 SET_SCALE_BASE high[7:0] address=payload[31:0]
1 35 SET_SCALE_LENGTH length=payload[19:0]
1 48 SET_DMA0_SRC high[7:0] address=payload[31:0]
1 49 SET_DMA0_DST high[7:0] address=payload[31:0]
1 50 SET_DMA0_LEN high[7:0] length=payload[31:0]
1 128 SET_IFM2_BASE0 high[7:0] address=payload[31:0]
1 129 SET_IFM2_BASE1 high[7:0] address=payload[31:0]
1 130 SET_IFM2_BASE2 high[7:0] address=payload[31:0]
1 131 SET_IFM2_BASE3 high[7:0] address=payload[31:0]
1 132 SET_IFM2_STRIDE_X high[7:0] stride=payload[31:0]
1 133 SET_IFM2_STRIDE_Y high[7:0] stride=payload[31:0]
1 134 SET_IFM2_STRIDE_C high[7:0] stride=payload[31:0]
1 144 SET_WEIGHT1_BASE high[7:0] address=payload[31:0]
1 145 SET_WEIGHT1_LENGTH length=payload[31:0]
"""

_ONLY_U55 = """
0 2 OP_CONV
0 17 OP_DMA_WAIT k[3:0]
0 18 OP_KERNEL_WAIT n[1:0]
0 261 SET_IFM_PRECISION activation_type[0:0] activation_precision[3:2] activation_format[7:6] \
scale_mode[9:8] round_mode[15:14]
0 269 SET_IFM_IB_END ib_end[5:0]
0 276 SET_OFM_PRECISION activation_type[0:0] activation_precision[2:1] activation_format[7:6] \
scale_mode[8:8] round_mode[15:14]
0 277 SET_OFM_BLK_WIDTH_M1 width_m1[5:0]
0 278 SET_OFM_BLK_HEIGHT_M1 height_m1[4:0]
0 279 SET_OFM_BLK_DEPTH_M1 depth_m1[6:0]
0 291 SET_PARALLEL_MODE parallel_mode[0:0]
0 292 SET_ACC_FORMAT acc_format[1:0]
0 293 SET_ACTIVATION activation_function[4:0] activation_clip_range[14:12]
0 301 SET_AB_START ab_start[5:0]
0 303 SET_BLOCKDEP blockdep[1:0]
0 304 SET_DMA0_SRC_REGION region[2:0] region_mode[8:8] stride_mode[10:9]
0 305 SET_DMA0_DST_REGION region[2:0] region_mode[8:8] stride_mode[10:9]
0 384 SET_IFM2_BROADCAST broadcast_h[0:0] broadcast_w[1:1] broadcast_c[2:2] operand_order[6:6] \
broadcast_constant[7:7]
0 385 SET_IFM2_SCALAR scalar[15:0]
0 389 SET_IFM2_PRECISION activation_type[0:0] activation_precision[3:2] activation_format[7:6]
0 397 SET_IFM2_IB_START ib_start[5:0]
1 36 SET_OFM_SCALE shift[5:0] scale=payload[31:0]
1 37 SET_OPA_SCALE shift[5:0] scale=payload[31:0]
1 38 SET_OPB_SCALE scale=payload[15:0]
1 51 SET_DMA0_SKIP0 high[7:0] skip=payload[31:0]
1 52 SET_DMA0_SKIP1 high[7:0] skip=payload[31:0]
1 146 SET_SCALE1_BASE high[7:0] address=payload[31:0]
1 147 SET_SCALE1_LENGTH length=payload[19:0]
"""

_ONLY_U85 = """
0 2 OP_CONV weights_ifm2[0:0]
0 7 OP_RESIZE resize_mode[1:0]
0 17 OP_DMA_WAIT k[1:0]
0 18 OP_KERNEL_WAIT n[0:0]
0 261 SET_IFM_PRECISION activation_type[0:0] activation_precision[3:2] activation_format[7:6] \
activation_storage[15:14]
0 264 SET_IFM_BROADCAST broadcast_mode[3:0]
0 276 SET_OFM_PRECISION activation_type[0:0] activation_precision[2:1] activation_format[7:6] \
scale_mode[8:8] activation_reverse[10:9] activation_transpose[13:11] activation_storage[15:14]
0 277 SET_OFM_BLK_WIDTH_M1 width_m1[6:0]
0 278 SET_OFM_BLK_HEIGHT_M1 height_m1[6:0]
0 279 SET_OFM_BLK_DEPTH_M1 depth_m1[9:0]
0 292 SET_ACC_FORMAT acc_format[1:0] acc_input[5:4] acc_output[6:6] microblock[10:8]
0 293 SET_ACTIVATION activation_function[4:0] table[7:5] activation_clip_range[12:12]
0 298 SET_RESIZE_X_SCALE_N_M1 resize_x_scale_n_m1[10:0]
0 299 SET_RESIZE_Y_SCALE_N_M1 resize_y_scale_n_m1[10:0]
0 300 SET_RESIZE_X_OFFSET resize_x_offset[11:0]
0 301 SET_RESIZE_Y_OFFSET resize_y_offset[11:0]
0 302 SET_WEIGHT_FORMAT weight_format[0:0] weight_sparsity[4:4]
0 303 SET_BLOCKDEP blockdep[2:0]
0 304 SET_DMA0_SRC_REGION region[2:0] region_mode[8:8] stride_mode[10:9] idx_mode[11:11]
0 305 SET_DMA0_DST_REGION region[2:0] region_mode[8:8] idx_mode[11:11]
0 308 SET_DMA0_IDX_REGION region[2:0]
0 384 SET_IFM2_BROADCAST broadcast_mode[3:0]
0 389 SET_IFM2_PRECISION activation_type[0:0] activation_precision[3:2] activation_format[7:6] \
activation_storage[15:14]
1 36 SET_OFM_SCALE shift[5:0] dbl_rnd[10:6] round_mode[15:13] scale=payload[30:0]
1 37 SET_IFM_SCALE shift[5:0] dbl_rnd[10:6] round_mode[13:13] scale=payload[30:0]
1 38 SET_IFM2_SCALE shift[5:0] dbl_rnd[10:6] round_mode[13:13] scale=payload[30:0]
1 39 SET_OP_SCALAR scalar=payload[31:0]
1 51 SET_DMA0_SRC_STRIDE0 high[7:0] stride=payload[31:0]
1 52 SET_DMA0_SRC_STRIDE1 high[7:0] stride=payload[31:0]
1 53 SET_DMA0_DST_STRIDE0 high[7:0] stride=payload[31:0]
1 54 SET_DMA0_DST_STRIDE1 high[7:0] stride=payload[31:0]
1 55 SET_DMA0_IDX high[7:0] address=payload[31:0]
1 56 SET_DMA0_IDX_MAX idx_max=payload[30:0]
1 57 SET_DMA0_IDX_SKIP1 high[7:0] skip=payload[31:0]
1 146 SET_WEIGHT2_BASE high[7:0] address=payload[31:0]
1 147 SET_WEIGHT2_LENGTH length=payload[31:0]
1 148 SET_WEIGHT3_BASE high[7:0] address=payload[31:0]
1 149 SET_WEIGHT3_LENGTH length=payload[31:0]
1 150 SET_RESIZE_X one_step_int[3:0] blk_step_int[14:4] one_step_mod=payload[10:0] \
blk_step_mod=payload[26:16]
1 151 SET_RESIZE_Y one_step_int[3:0] blk_step_int[14:4] one_step_mod=payload[10:0] \
blk_step_mod=payload[26:16]
1 256 OP_BRANCH branch_cond[0:0] branch_target=payload[31:0]
"""

_FIELD = re.compile(r"(\w+)(=payload)?\[(\d+):(\d+)\]")


def _parse(text: str) -> dict[int, Command]:
    commands = {}
    for line in text.strip().splitlines():
        kind, opcode, name, *fields = line.split()
        key = int(kind) << 14 | int(opcode)
        matches = [_FIELD.fullmatch(field) for field in fields]
        commands[key] = Command(
            key,
            name,
            tuple(
                Field(match[1], int(match[3]), int(match[4]), match[2] is not None)
                for match in matches
                if match
            ),
        )
    return commands


COMMANDS: dict[Family, dict[int, Command]] = {
    Family.U55: dict(sorted({**_parse(_COMMON), **_parse(_ONLY_U55)}.items())),
    Family.U85: dict(sorted({**_parse(_COMMON), **_parse(_ONLY_U85)}.items())),
}

_FORMATS = ("NHWC", "NHCWB16")
_UNSIGNED_SIGNED = ("UNSIGNED", "SIGNED")
_TABLES = {16 + table: f"TABLE_{table}" for table in range(8)}

# Names of field values, by field name. U85's own meanings take precedence.
_VALUES: dict[Family, dict[str, dict[int, str]]] = {
    Family.U55: {
        "pooling_mode": dict(enumerate(("MAX", "AVERAGE", "REDUCE_SUM"))),
        "elementwise_mode": dict(
            enumerate(("MUL", "ADD", "SUB", "MIN", "MAX", "LRELU", "ABS", "CLZ", "SHR", "SHL"))
        ),
        "activation_type": dict(enumerate(_UNSIGNED_SIGNED)),
        "activation_precision": dict(enumerate(("B8", "B16", "B32", "B64"))),
        "activation_format": dict(enumerate(_FORMATS)),
        "activation_function": {0: "RELU", 3: "TANH", 4: "SIGMOID", **_TABLES},
        "activation_clip_range": {0: "OFM_PRECISION", 2: "UINT8", 3: "INT8", 5: "INT16"},
        "acc_format": dict(enumerate(("I32", "I40", "F16"))),
        "round_mode": dict(enumerate(("DOUBLE", "TRUNCATE", "NATURAL"))),
        "weight_order": dict(enumerate(("DEPTH_FIRST", "PART_KERNEL_FIRST"))),
        "parallel_mode": dict(enumerate(("SINGLE_CORE", "DUAL_CORE_DEPTH"))),
        "region_mode": dict(enumerate(("EXTERNAL", "INTERNAL"))),
        "stride_mode": dict(enumerate(("D1", "D2", "D3"))),
        "mode": dict(enumerate(("NONE", "NEAREST", "ZEROS"))),
        "operand_order": dict(enumerate(("IFM2_IS_B", "IFM2_IS_A"))),
    },
    Family.U85: {
        "pooling_mode": dict(
            enumerate(
                ("MAX", "AVERAGE", "REDUCE_SUM", "SUM", "NONE", "MIN", "ARGMAX_X", "ARGMAX_Y")
            )
        ),
        "elementwise_mode": {10: "LSR", 11: "DIV", 16: "CMP_EQ", 17: "CMP_NE", 18: "CMP_GE"}
        | {19: "CMP_GT", 33: "AND", 34: "OR", 35: "XOR", 36: "NOT", 42: "AND_NOT"},
        "activation_function": {0: "NONE", 1: "LUT_U8_U8", 4: "LUT_S8_S8", 5: "LUT_S8_S16"}
        | {7: "LUT_S8_S32", 8: "LUT_S16_S16", 9: "LUT_S16_S32", 10: "LUT_TANH", 11: "LUT_SIGMOID"},
        "activation_clip_range": dict(enumerate(("B16", "NONE"))),
        "acc_format": dict(enumerate(("I32", "I48"))),
        "acc_input": dict(enumerate(("RESET", "KEEP", "IFM2"))),
        "acc_output": dict(enumerate(("ENABLE", "DISABLE"))),
        "activation_reverse": dict(enumerate(("NONE", "H", "W", "C"))),
        "activation_storage": dict(enumerate(("TILE2X2", "TILE3X1", "CHAINED", "NONE"))),
        "activation_transpose": {0: "HWC", 1: "WHC", 2: "HCW", 3: "WCH", 6: "CHW", 7: "CWH"},
        "broadcast_mode": dict(enumerate(("NONE", "H", "W", "HW", "C", "CH", "CW", "CWH")))
        | {8: "SCALAR"},
        "branch_cond": dict(enumerate(("ALWAYS", "RF_TRUE"))),
        "microblock": dict(enumerate(("1X1", "1X2", "1X4", "2X2", "2X4", "4X4"))),
        "resize_mode": dict(enumerate(("BILINEAR", "REPLICATE", "NEAREST"))),
        "round_mode": dict(
            enumerate(
                (
                    "DOUBLE_SYMMETRIC",
                    "NATURAL",
                    "DOUBLE_ASYMMETRIC",
                    "SYMMETRIC",
                    "TRUNCATE_TO_ZERO",
                    "TRUNCATE_TO_LOWER",
                )
            )
        ),
        "weight_format": dict(enumerate(("STANDARD", "FAST"))),
    },
}
_VALUES[Family.U85] = {
    name: {**_VALUES[Family.U55].get(name, {}), **_VALUES[Family.U85].get(name, {})}
    if name == "elementwise_mode"
    else _VALUES[Family.U85].get(name, _VALUES[Family.U55].get(name, {}))
    for name in {**_VALUES[Family.U55], **_VALUES[Family.U85]}
}


def value_name(family: Family, field: str, value: int) -> str:
    """Return the symbolic name of a field's value, or the number where there is none."""
    return _VALUES[family].get(field, {}).get(value, str(value))
