# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ExecuTorch's nxp_executor_runner. TFLite Micro runs the file sent to the
converter's stand-in. With --off, the first value of each output is off by that many steps. The
program starts for every sample and does not import torch.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tflite_micro.python.tflite_micro import runtime
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from aot.pte.reader import delegate_payloads
from npu.neutron.payload import parse


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("model", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--off", type=int, default=0)
    given = parser.parse_args()
    (payload,) = delegate_payloads(given.model.read_bytes(), "NeutronBackend")
    sent = parse(payload).program.weights
    interpreter = runtime.Interpreter.from_bytes(sent, arena_size=2**20)
    for index, path in enumerate(given.inputs.split(",")):
        shape = interpreter.get_input_details(index)["shape"]
        interpreter.set_input(np.fromfile(path, np.int8).reshape(shape), index)
    interpreter.invoke()
    given.output.mkdir()
    outputs = schema.Model.GetRootAs(sent, 0).Subgraphs(0).OutputsLength()
    for index in range(outputs):
        result = np.array(interpreter.get_output(index))
        result.ravel()[0] += given.off
        result.tofile(given.output / f"{index:04}.bin")


if __name__ == "__main__":
    main()
