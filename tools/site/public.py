# SPDX-License-Identifier: Apache-2.0
"""The files of the public interface."""

# docs/stability.md explains these lists.
PYTHON = (
    "aot/artefact/artefact.py",
    "aot/backends/cortex_m/__init__.py",
    "aot/dialect/library.py",
    "aot/errors.py",
    "aot/importers/onnx/module.py",
    "aot/lower.py",
    "aot/lower_onnx.py",
    "aot/lower_tflite.py",
    "aot/options.py",
    "aot/quality/quality.py",
    "aot/dialect/rule.py",
    "aot/backends/npus.py",
    "aot/backends/target.py",
    "npu/ethos_u/npu_model.py",
    "firmware/features/log_mel.py",
    "kernels/common/kernel.py",
)
STARLARK = (
    "aot/pte_model.bzl",
    "boards/board.bzl",
    "boards/board_run.bzl",
    "boards/board_test.bzl",
    "boards/chip.bzl",
    "boards/firmware_image.bzl",
    "firmware/apps/check_image.bzl",
    "firmware/features/log_mel.bzl",
    "aot/plan/plan_library.bzl",
    "firmware/slot/slot.bzl",
    "kernels/kernel.bzl",
    "repositories.bzl",
)
HEADERS = (
    "boards/common/console.h",
    "boards/common/irq.h",
    "boards/common/print.h",
    "boards/common/ring.h",
    "boards/common/stack.h",
    "boards/common/timer.h",
    "firmware/features/*.h",
    "firmware/runtime/model.h",
    "firmware/runtime/plan.h",
    "firmware/runtime/profile.h",
    "firmware/runtime/values.h",
    "firmware/slot/flash*.h",
    "firmware/slot/package.h",
    "firmware/slot/slot.h",
    "firmware/slot/status.h",
    "kernels/common/status.h",
    "kernels/common/types.h",
)
SCHEMAS = ("*.schema.json",)
