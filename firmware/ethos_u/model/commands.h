// SPDX-License-Identifier: Apache-2.0
// Commands of Ethos-U55 and Ethos-U65, from isa.py: isa_header.py writes this file.
#ifndef FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_
#define FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_

#include <stdint.h>

// The low half of a command's first word: opcode in bits 9:0, kind in bits 15:14.
enum {
  NPU_OP_STOP = 0x0000,
  NPU_OP_IRQ = 0x0001,
  NPU_OP_CONV = 0x0002,
  NPU_OP_DEPTHWISE = 0x0003,
  NPU_OP_POOL = 0x0005,
  NPU_OP_ELEMENTWISE = 0x0006,
  NPU_OP_DMA_START = 0x0010,
  NPU_OP_DMA_WAIT = 0x0011,
  NPU_OP_KERNEL_WAIT = 0x0012,
  NPU_OP_PMU_MASK = 0x0013,
  NPU_SET_IFM_PAD_TOP = 0x0100,
  NPU_SET_IFM_PAD_LEFT = 0x0101,
  NPU_SET_IFM_PAD_RIGHT = 0x0102,
  NPU_SET_IFM_PAD_BOTTOM = 0x0103,
  NPU_SET_IFM_DEPTH_M1 = 0x0104,
  NPU_SET_IFM_PRECISION = 0x0105,
  NPU_SET_IFM_UPSCALE = 0x0107,
  NPU_SET_IFM_ZERO_POINT = 0x0109,
  NPU_SET_IFM_WIDTH0_M1 = 0x010a,
  NPU_SET_IFM_HEIGHT0_M1 = 0x010b,
  NPU_SET_IFM_HEIGHT1_M1 = 0x010c,
  NPU_SET_IFM_IB_END = 0x010d,
  NPU_SET_IFM_REGION = 0x010f,
  NPU_SET_OFM_WIDTH_M1 = 0x0111,
  NPU_SET_OFM_HEIGHT_M1 = 0x0112,
  NPU_SET_OFM_DEPTH_M1 = 0x0113,
  NPU_SET_OFM_PRECISION = 0x0114,
  NPU_SET_OFM_BLK_WIDTH_M1 = 0x0115,
  NPU_SET_OFM_BLK_HEIGHT_M1 = 0x0116,
  NPU_SET_OFM_BLK_DEPTH_M1 = 0x0117,
  NPU_SET_OFM_ZERO_POINT = 0x0118,
  NPU_SET_OFM_WIDTH0_M1 = 0x011a,
  NPU_SET_OFM_HEIGHT0_M1 = 0x011b,
  NPU_SET_OFM_HEIGHT1_M1 = 0x011c,
  NPU_SET_OFM_REGION = 0x011f,
  NPU_SET_KERNEL_WIDTH_M1 = 0x0120,
  NPU_SET_KERNEL_HEIGHT_M1 = 0x0121,
  NPU_SET_KERNEL_STRIDE = 0x0122,
  NPU_SET_PARALLEL_MODE = 0x0123,
  NPU_SET_ACC_FORMAT = 0x0124,
  NPU_SET_ACTIVATION = 0x0125,
  NPU_SET_ACTIVATION_MIN = 0x0126,
  NPU_SET_ACTIVATION_MAX = 0x0127,
  NPU_SET_WEIGHT_REGION = 0x0128,
  NPU_SET_SCALE_REGION = 0x0129,
  NPU_SET_AB_START = 0x012d,
  NPU_SET_BLOCKDEP = 0x012f,
  NPU_SET_DMA0_SRC_REGION = 0x0130,
  NPU_SET_DMA0_DST_REGION = 0x0131,
  NPU_SET_DMA0_SIZE0 = 0x0132,
  NPU_SET_DMA0_SIZE1 = 0x0133,
  NPU_SET_IFM2_BROADCAST = 0x0180,
  NPU_SET_IFM2_SCALAR = 0x0181,
  NPU_SET_IFM2_PRECISION = 0x0185,
  NPU_SET_IFM2_ZERO_POINT = 0x0189,
  NPU_SET_IFM2_WIDTH0_M1 = 0x018a,
  NPU_SET_IFM2_HEIGHT0_M1 = 0x018b,
  NPU_SET_IFM2_HEIGHT1_M1 = 0x018c,
  NPU_SET_IFM2_IB_START = 0x018d,
  NPU_SET_IFM2_REGION = 0x018f,
  NPU_SET_IFM_BASE0 = 0x4000,
  NPU_SET_IFM_BASE1 = 0x4001,
  NPU_SET_IFM_BASE2 = 0x4002,
  NPU_SET_IFM_BASE3 = 0x4003,
  NPU_SET_IFM_STRIDE_X = 0x4004,
  NPU_SET_IFM_STRIDE_Y = 0x4005,
  NPU_SET_IFM_STRIDE_C = 0x4006,
  NPU_SET_OFM_BASE0 = 0x4010,
  NPU_SET_OFM_BASE1 = 0x4011,
  NPU_SET_OFM_BASE2 = 0x4012,
  NPU_SET_OFM_BASE3 = 0x4013,
  NPU_SET_OFM_STRIDE_X = 0x4014,
  NPU_SET_OFM_STRIDE_Y = 0x4015,
  NPU_SET_OFM_STRIDE_C = 0x4016,
  NPU_SET_WEIGHT_BASE = 0x4020,
  NPU_SET_WEIGHT_LENGTH = 0x4021,
  NPU_SET_SCALE_BASE = 0x4022,
  NPU_SET_SCALE_LENGTH = 0x4023,
  NPU_SET_OFM_SCALE = 0x4024,
  NPU_SET_OPA_SCALE = 0x4025,
  NPU_SET_OPB_SCALE = 0x4026,
  NPU_SET_DMA0_SRC = 0x4030,
  NPU_SET_DMA0_DST = 0x4031,
  NPU_SET_DMA0_LEN = 0x4032,
  NPU_SET_DMA0_SKIP0 = 0x4033,
  NPU_SET_DMA0_SKIP1 = 0x4034,
  NPU_SET_IFM2_BASE0 = 0x4080,
  NPU_SET_IFM2_BASE1 = 0x4081,
  NPU_SET_IFM2_BASE2 = 0x4082,
  NPU_SET_IFM2_BASE3 = 0x4083,
  NPU_SET_IFM2_STRIDE_X = 0x4084,
  NPU_SET_IFM2_STRIDE_Y = 0x4085,
  NPU_SET_IFM2_STRIDE_C = 0x4086,
  NPU_SET_WEIGHT1_BASE = 0x4090,
  NPU_SET_WEIGHT1_LENGTH = 0x4091,
  NPU_SET_SCALE1_BASE = 0x4092,
  NPU_SET_SCALE1_LENGTH = 0x4093,
};

// Defined bits of a command, in the order of `key`.
typedef struct {
  uint16_t key;
  uint16_t parameter_mask;
  uint32_t payload_mask;
} npu_command;

// Initialisers: all commands in the order of their keys, and their names in the same order.
// clang-format off
#define NPU_COMMANDS \
  { \
    {0x0000, 0xffff, 0x00000000}, \
    {0x0001, 0xffff, 0x00000000}, \
    {0x0002, 0x0000, 0x00000000}, \
    {0x0003, 0x0000, 0x00000000}, \
    {0x0005, 0x0007, 0x00000000}, \
    {0x0006, 0x003f, 0x00000000}, \
    {0x0010, 0x0000, 0x00000000}, \
    {0x0011, 0x000f, 0x00000000}, \
    {0x0012, 0x0003, 0x00000000}, \
    {0x0013, 0x0001, 0x00000000}, \
    {0x0100, 0x007f, 0x00000000}, \
    {0x0101, 0x007f, 0x00000000}, \
    {0x0102, 0x00ff, 0x00000000}, \
    {0x0103, 0x00ff, 0x00000000}, \
    {0x0104, 0xffff, 0x00000000}, \
    {0x0105, 0xc3cd, 0x00000000}, \
    {0x0107, 0x0003, 0x00000000}, \
    {0x0109, 0xffff, 0x00000000}, \
    {0x010a, 0xffff, 0x00000000}, \
    {0x010b, 0xffff, 0x00000000}, \
    {0x010c, 0xffff, 0x00000000}, \
    {0x010d, 0x003f, 0x00000000}, \
    {0x010f, 0x0007, 0x00000000}, \
    {0x0111, 0xffff, 0x00000000}, \
    {0x0112, 0xffff, 0x00000000}, \
    {0x0113, 0xffff, 0x00000000}, \
    {0x0114, 0xc1c7, 0x00000000}, \
    {0x0115, 0x003f, 0x00000000}, \
    {0x0116, 0x001f, 0x00000000}, \
    {0x0117, 0x007f, 0x00000000}, \
    {0x0118, 0xffff, 0x00000000}, \
    {0x011a, 0xffff, 0x00000000}, \
    {0x011b, 0xffff, 0x00000000}, \
    {0x011c, 0xffff, 0x00000000}, \
    {0x011f, 0x0007, 0x00000000}, \
    {0x0120, 0xffff, 0x00000000}, \
    {0x0121, 0xffff, 0x00000000}, \
    {0x0122, 0x027f, 0x00000000}, \
    {0x0123, 0x0001, 0x00000000}, \
    {0x0124, 0x0003, 0x00000000}, \
    {0x0125, 0x701f, 0x00000000}, \
    {0x0126, 0xffff, 0x00000000}, \
    {0x0127, 0xffff, 0x00000000}, \
    {0x0128, 0x0007, 0x00000000}, \
    {0x0129, 0x0007, 0x00000000}, \
    {0x012d, 0x003f, 0x00000000}, \
    {0x012f, 0x0003, 0x00000000}, \
    {0x0130, 0x0707, 0x00000000}, \
    {0x0131, 0x0707, 0x00000000}, \
    {0x0132, 0xffff, 0x00000000}, \
    {0x0133, 0xffff, 0x00000000}, \
    {0x0180, 0x00c7, 0x00000000}, \
    {0x0181, 0xffff, 0x00000000}, \
    {0x0185, 0x00cd, 0x00000000}, \
    {0x0189, 0xffff, 0x00000000}, \
    {0x018a, 0xffff, 0x00000000}, \
    {0x018b, 0xffff, 0x00000000}, \
    {0x018c, 0xffff, 0x00000000}, \
    {0x018d, 0x003f, 0x00000000}, \
    {0x018f, 0x0007, 0x00000000}, \
    {0x4000, 0x00ff, 0xffffffff}, \
    {0x4001, 0x00ff, 0xffffffff}, \
    {0x4002, 0x00ff, 0xffffffff}, \
    {0x4003, 0x00ff, 0xffffffff}, \
    {0x4004, 0x00ff, 0xffffffff}, \
    {0x4005, 0x00ff, 0xffffffff}, \
    {0x4006, 0x00ff, 0xffffffff}, \
    {0x4010, 0x00ff, 0xffffffff}, \
    {0x4011, 0x00ff, 0xffffffff}, \
    {0x4012, 0x00ff, 0xffffffff}, \
    {0x4013, 0x00ff, 0xffffffff}, \
    {0x4014, 0x00ff, 0xffffffff}, \
    {0x4015, 0x00ff, 0xffffffff}, \
    {0x4016, 0x00ff, 0xffffffff}, \
    {0x4020, 0x00ff, 0xffffffff}, \
    {0x4021, 0x0000, 0xffffffff}, \
    {0x4022, 0x00ff, 0xffffffff}, \
    {0x4023, 0x0000, 0x000fffff}, \
    {0x4024, 0x003f, 0xffffffff}, \
    {0x4025, 0x003f, 0xffffffff}, \
    {0x4026, 0x0000, 0x0000ffff}, \
    {0x4030, 0x00ff, 0xffffffff}, \
    {0x4031, 0x00ff, 0xffffffff}, \
    {0x4032, 0x00ff, 0xffffffff}, \
    {0x4033, 0x00ff, 0xffffffff}, \
    {0x4034, 0x00ff, 0xffffffff}, \
    {0x4080, 0x00ff, 0xffffffff}, \
    {0x4081, 0x00ff, 0xffffffff}, \
    {0x4082, 0x00ff, 0xffffffff}, \
    {0x4083, 0x00ff, 0xffffffff}, \
    {0x4084, 0x00ff, 0xffffffff}, \
    {0x4085, 0x00ff, 0xffffffff}, \
    {0x4086, 0x00ff, 0xffffffff}, \
    {0x4090, 0x00ff, 0xffffffff}, \
    {0x4091, 0x0000, 0xffffffff}, \
    {0x4092, 0x00ff, 0xffffffff}, \
    {0x4093, 0x0000, 0x000fffff}, \
  }

#define NPU_COMMAND_NAMES \
  { \
    "OP_STOP", \
    "OP_IRQ", \
    "OP_CONV", \
    "OP_DEPTHWISE", \
    "OP_POOL", \
    "OP_ELEMENTWISE", \
    "OP_DMA_START", \
    "OP_DMA_WAIT", \
    "OP_KERNEL_WAIT", \
    "OP_PMU_MASK", \
    "SET_IFM_PAD_TOP", \
    "SET_IFM_PAD_LEFT", \
    "SET_IFM_PAD_RIGHT", \
    "SET_IFM_PAD_BOTTOM", \
    "SET_IFM_DEPTH_M1", \
    "SET_IFM_PRECISION", \
    "SET_IFM_UPSCALE", \
    "SET_IFM_ZERO_POINT", \
    "SET_IFM_WIDTH0_M1", \
    "SET_IFM_HEIGHT0_M1", \
    "SET_IFM_HEIGHT1_M1", \
    "SET_IFM_IB_END", \
    "SET_IFM_REGION", \
    "SET_OFM_WIDTH_M1", \
    "SET_OFM_HEIGHT_M1", \
    "SET_OFM_DEPTH_M1", \
    "SET_OFM_PRECISION", \
    "SET_OFM_BLK_WIDTH_M1", \
    "SET_OFM_BLK_HEIGHT_M1", \
    "SET_OFM_BLK_DEPTH_M1", \
    "SET_OFM_ZERO_POINT", \
    "SET_OFM_WIDTH0_M1", \
    "SET_OFM_HEIGHT0_M1", \
    "SET_OFM_HEIGHT1_M1", \
    "SET_OFM_REGION", \
    "SET_KERNEL_WIDTH_M1", \
    "SET_KERNEL_HEIGHT_M1", \
    "SET_KERNEL_STRIDE", \
    "SET_PARALLEL_MODE", \
    "SET_ACC_FORMAT", \
    "SET_ACTIVATION", \
    "SET_ACTIVATION_MIN", \
    "SET_ACTIVATION_MAX", \
    "SET_WEIGHT_REGION", \
    "SET_SCALE_REGION", \
    "SET_AB_START", \
    "SET_BLOCKDEP", \
    "SET_DMA0_SRC_REGION", \
    "SET_DMA0_DST_REGION", \
    "SET_DMA0_SIZE0", \
    "SET_DMA0_SIZE1", \
    "SET_IFM2_BROADCAST", \
    "SET_IFM2_SCALAR", \
    "SET_IFM2_PRECISION", \
    "SET_IFM2_ZERO_POINT", \
    "SET_IFM2_WIDTH0_M1", \
    "SET_IFM2_HEIGHT0_M1", \
    "SET_IFM2_HEIGHT1_M1", \
    "SET_IFM2_IB_START", \
    "SET_IFM2_REGION", \
    "SET_IFM_BASE0", \
    "SET_IFM_BASE1", \
    "SET_IFM_BASE2", \
    "SET_IFM_BASE3", \
    "SET_IFM_STRIDE_X", \
    "SET_IFM_STRIDE_Y", \
    "SET_IFM_STRIDE_C", \
    "SET_OFM_BASE0", \
    "SET_OFM_BASE1", \
    "SET_OFM_BASE2", \
    "SET_OFM_BASE3", \
    "SET_OFM_STRIDE_X", \
    "SET_OFM_STRIDE_Y", \
    "SET_OFM_STRIDE_C", \
    "SET_WEIGHT_BASE", \
    "SET_WEIGHT_LENGTH", \
    "SET_SCALE_BASE", \
    "SET_SCALE_LENGTH", \
    "SET_OFM_SCALE", \
    "SET_OPA_SCALE", \
    "SET_OPB_SCALE", \
    "SET_DMA0_SRC", \
    "SET_DMA0_DST", \
    "SET_DMA0_LEN", \
    "SET_DMA0_SKIP0", \
    "SET_DMA0_SKIP1", \
    "SET_IFM2_BASE0", \
    "SET_IFM2_BASE1", \
    "SET_IFM2_BASE2", \
    "SET_IFM2_BASE3", \
    "SET_IFM2_STRIDE_X", \
    "SET_IFM2_STRIDE_Y", \
    "SET_IFM2_STRIDE_C", \
    "SET_WEIGHT1_BASE", \
    "SET_WEIGHT1_LENGTH", \
    "SET_SCALE1_BASE", \
    "SET_SCALE1_LENGTH", \
  }
// clang-format on

#endif  // FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_
