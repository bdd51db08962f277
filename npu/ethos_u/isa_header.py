# SPDX-License-Identifier: Apache-2.0
"""`model/commands.h`, the C form of `isa.py`.

bazel run //npu/ethos_u:isa_header        # writes it anew
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import os
from pathlib import Path

from absl import app

from npu.ethos_u.isa import COMMANDS, Family

_HEADER = """// SPDX-License-Identifier: Apache-2.0
// Commands of Ethos-U55, U65 and U85, from isa.py: isa_header.py writes this file.
#ifndef FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_
#define FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_

#include <stdint.h>

// The low half of a command's first word: opcode in bits 9:0, kind in bits 15:14.
enum {
%s};

// Defined bits of a command, in the order of `key`.
typedef struct {
  uint16_t key;
  uint16_t parameter_mask;
  uint32_t payload_mask;
} npu_command;

// Initialisers: all commands in the order of their keys.
// clang-format off
%s
// clang-format on

#endif  // FIRMWARE_ETHOS_U_MODEL_COMMANDS_H_
"""


def _table(family: Family) -> str:
    """Return the initialiser with the commands of a family."""
    name = "NPU_COMMANDS" if family is Family.U55 else f"NPU_COMMANDS_{family.name}"
    rows = "".join(
        f"    {{{command.key:#06x}, {command.mask(False):#06x}, {command.mask(True):#010x}}}, \\\n"
        for command in COMMANDS[family].values()
    )
    return f"#define {name} \\\n  {{ \\\n{rows}  }}"


def header() -> str:
    """Return the text of the header."""
    keys = {command.name: command.key for family in Family for command in COMMANDS[family].values()}
    by_key = sorted(keys.items(), key=lambda item: item[1])
    names = "".join(f"  NPU_{name} = {key:#06x},\n" for name, key in by_key)
    return _HEADER % (names, "\n\n".join(map(_table, Family)))


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("this program takes no arguments")
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    (workspace / "npu/ethos_u/model/commands.h").write_text(header())


if __name__ == "__main__":
    run_main(main)
