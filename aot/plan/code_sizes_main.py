# SPDX-License-Identifier: Apache-2.0
"""Reads object files, and writes the data for plans with the least code.

code_sizes_main --output=sizes.json a.o b.o
"""

from tools.text.signal_handling import run_main

import dataclasses
import json
from pathlib import Path

from absl import flags

from aot.plan.code_sizes import read_object

_OUTPUT = flags.DEFINE_string("output", None, "The JSON file to write.", required=True)


def main(argv: list[str]) -> None:
    objects = [dataclasses.asdict(read_object(Path(path))) for path in argv[1:]]
    Path(_OUTPUT.value).write_text(json.dumps(objects, indent=1) + "\n")


if __name__ == "__main__":
    run_main(main)
