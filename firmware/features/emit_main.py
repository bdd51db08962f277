# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of features of sound as C, for the rule log_mel.

    emit_main --name=speech --parameters='{"rate": 8000, ...}' --include=app/speech.h \\
        --source=speech.c --header=speech.h
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from absl import app, flags

from firmware.features.log_mel import LogMel, LogMelError

_NAME = flags.DEFINE_string("name", None, "In C.", required=True)
_PARAMETERS = flags.DEFINE_string("parameters", None, "Of LogMel, as JSON.", required=True)
_INCLUDE = flags.DEFINE_string("include", None, "The header's path for #include.", required=True)
_SOURCE = flags.DEFINE_string("source", None, "The .c to write.", required=True)
_HEADER = flags.DEFINE_string("header", None, "The .h to write.", required=True)

_WIDTH = 16
_LICENSE = "// SPDX-License-Identifier: Apache-2.0\n"


def _array(kind: str, name: str, values: Iterable[int]) -> str:
    words = [str(value) for value in values]
    lines = [", ".join(words[i : i + _WIDTH]) for i in range(0, len(words), _WIDTH)]
    return f"static const {kind} {name}[] = {{\n    " + ",\n    ".join(lines) + ",\n};\n"


def source(name: str, features: LogMel, include: str) -> str:
    """Return the .c."""
    triangles = features.triangles
    arrays = [
        _array("int16_t", f"{name}_window", features.window),
        _array("int16_t", f"{name}_turns", features.turns.flatten()),
        _array("uint16_t", f"{name}_starts", (first for first, _ in triangles)),
        _array("uint16_t", f"{name}_counts", (len(weights) for _, weights in triangles)),
        _array("uint16_t", f"{name}_weights", (w for _, weights in triangles for w in weights)),
    ]
    cosines = f"{name}_cosines" if features.coefficients else "0"
    if features.coefficients:
        arrays.append(_array("int16_t", cosines, features.cosines.flatten()))
    return "\n".join(
        [
            _LICENSE + f'#include "{include}"\n',
            *arrays,
            f"const pl_log_mel_tables {name} = {{\n"
            f"    .frame = {features.frame},\n"
            f"    .size = {features.size},\n"
            f"    .bands = {features.bands},\n"
            f"    .coefficients = {features.coefficients},\n"
            f"    .window = {name}_window,\n"
            f"    .turns = {name}_turns,\n"
            f"    .starts = {name}_starts,\n"
            f"    .counts = {name}_counts,\n"
            f"    .weights = {name}_weights,\n"
            f"    .cosines = {cosines},\n"
            "};\n",
        ]
    )


def header(name: str, features: LogMel, include: str) -> str:
    """Return the .h."""
    guard, prefix = include.upper().translate(str.maketrans("/.-", "___")) + "_", name.upper()
    return f"""{_LICENSE}#ifndef {guard}
#define {guard}

#include "firmware/features/log_mel.h"

#ifdef __cplusplus
extern "C" {{
#endif

enum {{
  {prefix}_RATE = {features.rate},
  {prefix}_FRAME = {features.frame},
  {prefix}_HOP = {features.hop},
  {prefix}_VALUES = {features.values},
  {prefix}_FRACTION = {features.fraction},  // bits
  {prefix}_SCRATCH = {features.size},
}};

extern const pl_log_mel_tables {name};

#ifdef __cplusplus
}}
#endif

#endif  // {guard}
"""


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError("this program takes flags only")
    try:
        features = LogMel(**json.loads(_PARAMETERS.value))
        text = source(_NAME.value, features, _INCLUDE.value)
    except LogMelError as error:
        print(f"log_mel {_NAME.value}: {error}", file=sys.stderr)
        return 1
    Path(_SOURCE.value).write_text(text)
    Path(_HEADER.value).write_text(header(_NAME.value, features, _INCLUDE.value))
    return 0


if __name__ == "__main__":
    app.run(main)
