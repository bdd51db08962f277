# SPDX-License-Identifier: Apache-2.0
"""Program of a package to show that the model computes the expected results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from kernels.common import emit

Arrays = Mapping[str, npt.NDArray[Any]]


def check_header(name: str) -> str:
    """Return src/<name>_check.h."""
    guard = f"{name.upper()}_CHECK_H_"
    return f"""\
// SPDX-License-Identifier: Apache-2.0
#ifndef {guard}
#define {guard}

#ifdef __cplusplus
extern "C" {{
#endif

// Runs the model on a stored input. 0 if its outputs are as they must be: bit for bit, or closely
// where the model computes in float32. Else the status of the call that failed
// (kernels/common/status.h), or -1 where an output differs.
int {name}_check(void);

#ifdef __cplusplus
}}
#endif

#endif  // {guard}
"""


_SAME = """\
static bool pl_check_same(const pl_tensor *actual, const void *expected) {
  return memcmp(actual->data, expected, actual->spec.bytes) == 0;
}
"""

# Same check as firmware/apps/compare_close.c.
_CLOSE = """\
// Floats may differ by a ten thousandth of the largest, integers that come from them by one.
static bool pl_check_close(const uint8_t *actual, const uint8_t *expected, uint32_t count) {
  float largest = 0.0F;
  for (uint32_t i = 0; i < count; ++i) {
    float e;
    memcpy(&e, expected + i * sizeof(e), sizeof(e));
    if (isfinite(e) && fabsf(e) > largest) {
      largest = fabsf(e);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    float a;
    float e;
    memcpy(&a, actual + i * sizeof(a), sizeof(a));
    memcpy(&e, expected + i * sizeof(e), sizeof(e));
    const bool same = a == e || (isnan(a) && isnan(e));
    if (!same && !(fabsf(a - e) <= 1e-4F * largest)) {
      return false;
    }
  }
  return true;
}

static bool pl_check_same(const pl_tensor *actual, const void *expected) {
  const uint32_t bytes = actual->spec.bytes;
  switch (actual->spec.dtype) {
    case PL_DTYPE_FLOAT32:
      return pl_check_close(actual->data, expected, bytes / 4);
    case PL_DTYPE_INT8:
      for (uint32_t i = 0; i < bytes; ++i) {
        const int difference = ((const int8_t *)actual->data)[i] - ((const int8_t *)expected)[i];
        if (difference < -1 || difference > 1) {
          return false;
        }
      }
      return true;
    case PL_DTYPE_INT16:
      for (uint32_t i = 0; i < bytes / 2; ++i) {
        const int difference = ((const int16_t *)actual->data)[i] - ((const int16_t *)expected)[i];
        if (difference < -1 || difference > 1) {
          return false;
        }
      }
      return true;
    default:
      return memcmp(actual->data, expected, bytes) == 0;
  }
}
"""


def check_source(
    name: str, include: str, arrays: Arrays, inputs: int, outputs: int, is_close: bool
) -> str:
    """Return src/<name>_check.c, with the first of the vectors.

    Args:
      name: of the plan.
      include: path of its header.
      arrays: `input_<i>` and `output_<i>`, in the format of firmware/apps/vectors.py.
      inputs, outputs: number of inputs and outputs of the model.
      is_close: True if float kernels compute; compilers and hosts round differently.
    """
    # No plan has a name starting with pl_ (c_name.bzl), so none of these is the plan's.
    found = [f"input_{i}" for i in range(inputs)] + [f"output_{i}" for i in range(outputs)]
    names = [f"pl_check_{name}" for name in found]
    tables = "\n".join(
        emit.array(name, arrays[one][:1], alignment=4)
        for name, one in zip(names, found, strict=True)
    )
    return f"""\
// SPDX-License-Identifier: Apache-2.0
#include "{name}_check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "{include}"
#include "firmware/runtime/model.h"

enum {{ INPUTS = {inputs}, OUTPUTS = {outputs} }};

{tables}
{_list("pl_check_inputs", names[:inputs])}
{_list("pl_check_outputs", names[inputs:])}
static const pl_plan *const pl_check_plan = &{name};
static pl_model pl_check_model;

{_CLOSE if is_close else _SAME}
int {name}_check(void) {{
  pl_tensor input[INPUTS];
  pl_tensor output[OUTPUTS];
  pl_status status = pl_model_init(&pl_check_model, pl_check_plan);
  for (uint32_t i = 0; status == PL_OK && i < INPUTS; ++i) {{
    status = pl_model_input(&pl_check_model, i, &input[i]);
    if (status == PL_OK) {{
      memcpy(input[i].data, pl_check_inputs[i], input[i].spec.bytes);
    }}
  }}
  for (uint32_t i = 0; status == PL_OK && i < OUTPUTS; ++i) {{
    status = pl_model_output(&pl_check_model, i, &output[i]);
  }}
  if (status == PL_OK) {{
    status = pl_model_run(&pl_check_model, input, INPUTS, output, OUTPUTS);
  }}
  if (status != PL_OK) {{
    return (int)status;
  }}
  for (uint32_t i = 0; i < OUTPUTS; ++i) {{
    if (!pl_check_same(&output[i], pl_check_outputs[i])) {{
      return -1;
    }}
  }}
  return 0;
}}
"""


def _list(name: str, items: Sequence[str]) -> str:
    return f"static const void *const {name}[] = {{{', '.join(items)}}};"


def main_source(names: Sequence[str]) -> str:
    """Return example_main.c."""
    includes = "\n".join(f'#include "{name}_check.h"' for name in names)
    calls = "\n".join(f'  failed |= show("{name}", {name}_check());' for name in names)
    return f"""\
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

{includes}

static int show(const char *name, int result) {{
  if (result == 0) {{
    printf("%s: computes what it has to\\n", name);
  }} else {{
    printf("%s: failed, %d\\n", name, result);
  }}
  return result == 0 ? 0 : 1;
}}

int main(void) {{
  int failed = 0;
{calls}
  return failed;
}}
"""


def sketch(names: Sequence[str]) -> str:
    """Return examples/check/check.ino."""
    includes = "\n".join(f"#include <{name}_check.h>" for name in names)
    calls = "\n".join(f'  show("{name}", {name}_check());' for name in names)
    return f"""\
// SPDX-License-Identifier: Apache-2.0
{includes}

static void show(const char *name, int result) {{
  Serial.print(name);
  Serial.println(result == 0 ? ": computes what it has to" : ": failed");
}}

void setup() {{
  Serial.begin(115200);
}}

void loop() {{
{calls}
  delay(1000);
}}
"""
