# SPDX-License-Identifier: Apache-2.0
"""Writes an .npz of test vectors as C, for one plan: the command line of vectors.py.

vectors --vectors=x.vectors.npz --plan=x.plan.json --include=x.h --source=x_vectors.c
"""

import json
import sys
from pathlib import Path

import numpy as np
from absl import app, flags

from firmware.apps.vectors import VectorsError, source
from tools.text.malformed import malformed

_VECTORS = flags.DEFINE_string("vectors", None, "The .npz to read.", required=True)
_PLAN = flags.DEFINE_string("plan", None, "The model's plan.json.", required=True)
_INCLUDE = flags.DEFINE_string("include", None, "The plan's header.", required=True)
_LIMIT = flags.DEFINE_integer("limit", 0, "Take that many vectors only; 0: all.", lower_bound=0)
_SOURCE = flags.DEFINE_string("source", None, "The C file to write.", required=True)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]!r}")
    try:
        with malformed(VectorsError, "the plan"):
            plan = json.loads(Path(_PLAN.value).read_text())
        with malformed(VectorsError, "the .npz"), np.load(_VECTORS.value) as file:
            arrays = {name: file[name] for name in file.files}
        with malformed(VectorsError, "the .npz or the plan"):
            text = source(arrays, plan, _INCLUDE.value, _LIMIT.value)
    except (OSError, VectorsError) as error:
        print(f"{_VECTORS.value}: {error}", file=sys.stderr)
        return 2
    Path(_SOURCE.value).write_text(text)
    return 0


if __name__ == "__main__":
    app.run(main)
