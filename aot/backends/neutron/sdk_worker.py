# SPDX-License-Identifier: Apache-2.0
"""Call of NXP's converter: a separate program, run by a Python with eIQ Neutron SDK.

    sdk_worker.py TARGET FETCH INPUT OUTPUT

TARGET is the converter's name of a part. FETCH is 1 if the program must copy its weights to SRAM,
else 0. The program uses only the standard library and the SDK. Its calls are those of ExecuTorch's
own backend.
"""

import sys
from pathlib import Path
from typing import Any


def main(target: str, fetch: str, source: str, output: str) -> None:
    # Import by name: only the Python running this file has it.
    sdk: Any = __import__(
        "eiq_neutron_sdk", fromlist=["neutron_converter", "neutron_library_utils"]
    )
    converter, utils = sdk.neutron_converter, sdk.neutron_library_utils
    if not utils.isNeutronTarget(target):
        known = ", ".join(str(one.name) for one in utils.getNeutronTargets())
        sys.exit(f"this SDK has no target {target}; it has: {known}")
    context = converter.CompilationContext()
    context.targetOpts = converter.getNeutronTarget(target)
    context.compilationOpts.minNumOpsPerGraph = 1
    # ExecuTorch leaves these passes out too.
    context.compilationOpts.excludeGraphPasses = "HoistSliceAboveTranspose,MergeTranspose"
    context.compilationOpts.fetchConstantsToSRAM = fetch == "1"
    converted = converter.convertModel(list(Path(source).read_bytes()), context)
    Path(output).write_bytes(bytes(converted))


if __name__ == "__main__":
    main(*sys.argv[1:])
