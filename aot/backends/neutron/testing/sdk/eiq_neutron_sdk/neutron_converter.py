# SPDX-License-Identifier: Apache-2.0
"""Conversion by the stand-in, or the behaviour in the environment variable STAND_IN_DOES."""

import os
import time
from types import SimpleNamespace

from aot.backends.neutron.testing.stand_in import converted


class CompilationContext:
    def __init__(self) -> None:
        self.targetOpts = SimpleNamespace()
        self.compilationOpts = SimpleNamespace()


def getNeutronTarget(name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, subsystem=False, hwVersion=2)


def convertModel(tflite: list[int], context: CompilationContext) -> list[int]:
    options = context.compilationOpts
    print(f"converting for {context.targetOpts.name}, {sorted(vars(options))}")
    does = os.environ.get("STAND_IN_DOES", "")
    if does == "crash":
        os.abort()
    if does == "hang":
        time.sleep(3600)
    if does == "fail":
        raise RuntimeError("the stand-in was told to fail")
    if does == "nothing":
        return []
    return list(converted(bytes(tflite), options.fetchConstantsToSRAM))
