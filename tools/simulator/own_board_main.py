# SPDX-License-Identifier: Apache-2.0
"""Correct estimates of cycles by measurements on an own board.

    bazel run //boards:nrf52840dk_app.run --//firmware/runtime:profile_steps -- --profile=run.json
    bazel run //boards:mps2_an386_app.sim --//firmware/runtime:profile_steps -- --profile=sim.json
    bazel run //tools/simulator:own_board -- --measured=run.json --estimated=sim.json \\
        --clock_hz=64000000 --output=my_board.json
    bazel run //boards:mps2_an386_app.sim -- --chip=my_board.json

Both profiles are of the same model, on boards with the same core. Another call with the same output
adds a measurement. Paths are relative to the working folder of `bazel run`.
"""

from tools.text.signal_handling import run_main

import json
import sys

from absl import flags

from tools.simulator.blocks import CyclesError
from tools.simulator.own_board import own_calibration, path_of, read_json, with_measurement
from tools.simulator.silicon import percent

_MEASURED = flags.DEFINE_string("measured", None, "Profile of `.run`.", required=True)
_ESTIMATED = flags.DEFINE_string(
    "estimated", None, "Profile of `.sim` or `.cycles`.", required=True
)
_CLOCK_HZ = flags.DEFINE_integer("clock_hz", None, "Clock of the core.", 1, required=True)
_OUTPUT = flags.DEFINE_string("output", None, "File of the board.", required=True)


def main(argv: list[str]) -> int:
    del argv
    try:
        board = read_json(_OUTPUT.value) if path_of(_OUTPUT.value).exists() else {}
        profiles = read_json(_MEASURED.value), read_json(_ESTIMATED.value)
        board = with_measurement(board, *profiles, _CLOCK_HZ.value)
        found = own_calibration(board["core"], board)
    except CyclesError as error:
        print(error, file=sys.stderr)
        return 1
    path_of(_OUTPUT.value).write_text(json.dumps(board, indent=1) + "\n")
    band = "unknown error" if found.error is None else percent(found.error)
    print(f"{board['name']}: factor {found.factor:.3f}, {band}, by {found.rows} measurements")
    return 0


if __name__ == "__main__":
    run_main(main)
