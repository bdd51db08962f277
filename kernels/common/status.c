// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/status.h"

const char *pl_status_name(pl_status status) {
  switch (status) {
    case PL_OK:
      return "PL_OK";
    case PL_ERROR_NULL:
      return "PL_ERROR_NULL";
    case PL_ERROR_SCRATCH_SIZE:
      return "PL_ERROR_SCRATCH_SIZE";
    case PL_ERROR_NOT_READY:
      return "PL_ERROR_NOT_READY";
    case PL_ERROR_BUSY:
      return "PL_ERROR_BUSY";
    case PL_ERROR_WEIGHTS:
      return "PL_ERROR_WEIGHTS";
    case PL_ERROR_NO_CHECKSUM:
      return "PL_ERROR_NO_CHECKSUM";
    case PL_ERROR_INDEX:
      return "PL_ERROR_INDEX";
    case PL_ERROR_INPUT_COUNT:
      return "PL_ERROR_INPUT_COUNT";
    case PL_ERROR_INPUT_NULL:
      return "PL_ERROR_INPUT_NULL";
    case PL_ERROR_INPUT_DTYPE:
      return "PL_ERROR_INPUT_DTYPE";
    case PL_ERROR_INPUT_RANK:
      return "PL_ERROR_INPUT_RANK";
    case PL_ERROR_INPUT_SHAPE:
      return "PL_ERROR_INPUT_SHAPE";
    case PL_ERROR_INPUT_LAYOUT:
      return "PL_ERROR_INPUT_LAYOUT";
    case PL_ERROR_INPUT_SCALE:
      return "PL_ERROR_INPUT_SCALE";
    case PL_ERROR_INPUT_ZERO_POINT:
      return "PL_ERROR_INPUT_ZERO_POINT";
    case PL_ERROR_INPUT_SIZE:
      return "PL_ERROR_INPUT_SIZE";
    case PL_ERROR_INPUT_ALIGNMENT:
      return "PL_ERROR_INPUT_ALIGNMENT";
    case PL_ERROR_INPUT_OVERLAP:
      return "PL_ERROR_INPUT_OVERLAP";
    case PL_ERROR_OUTPUT_COUNT:
      return "PL_ERROR_OUTPUT_COUNT";
    case PL_ERROR_OUTPUT_NULL:
      return "PL_ERROR_OUTPUT_NULL";
    case PL_ERROR_OUTPUT_DTYPE:
      return "PL_ERROR_OUTPUT_DTYPE";
    case PL_ERROR_OUTPUT_RANK:
      return "PL_ERROR_OUTPUT_RANK";
    case PL_ERROR_OUTPUT_SHAPE:
      return "PL_ERROR_OUTPUT_SHAPE";
    case PL_ERROR_OUTPUT_LAYOUT:
      return "PL_ERROR_OUTPUT_LAYOUT";
    case PL_ERROR_OUTPUT_SCALE:
      return "PL_ERROR_OUTPUT_SCALE";
    case PL_ERROR_OUTPUT_ZERO_POINT:
      return "PL_ERROR_OUTPUT_ZERO_POINT";
    case PL_ERROR_OUTPUT_SIZE:
      return "PL_ERROR_OUTPUT_SIZE";
    case PL_ERROR_OUTPUT_ALIGNMENT:
      return "PL_ERROR_OUTPUT_ALIGNMENT";
    case PL_ERROR_OUTPUT_OVERLAP:
      return "PL_ERROR_OUTPUT_OVERLAP";
    case PL_ERROR_DELEGATE_ENGINE:
    case PL_ERROR_DELEGATE_PAYLOAD:
    case PL_ERROR_DELEGATE_RUN:
      break;
  }
  return "PL_ERROR_UNKNOWN";
}
