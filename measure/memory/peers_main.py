# SPDX-License-Identifier: Apache-2.0
"""Prints the memory planned by peers for activations of the same networks: the table of
docs/memory.md.

tools/bazel run //measure/memory:peers
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import itertools
from collections.abc import Callable, Iterator

with imports_that_stay():
    import torch
    from absl import app, flags

    from measure.benchmark.executorch import for_cortex_m
    from measure.memory.networks import NETWORKS, Network
    from measure.tflite.tflm import arena_of_tflm, exported
    from tools.text.table import table

_ONLY = flags.DEFINE_string("only", "", "Networks with this in their names.")
_SAMPLES = 2


def of_executorch(network: Network) -> int:
    """Return the buffer bytes of the program, as sized by its memory planning pass."""
    model = network.factory().to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def samples() -> Iterator[tuple[torch.Tensor, ...]]:
        found = network.calibration()
        return itertools.islice(((_channels_last(*x),) for x in found), _SAMPLES)

    manager = for_cortex_m(model, samples)
    (plan,) = manager.executorch_program.execution_plan
    return sum(plan.non_const_buffer_sizes)


def _channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.to(memory_format=torch.channels_last) if x.dim() == 4 else x


def of_tflm(network: Network) -> int:
    """Return the interpreter's arena bytes for activations, with its reference kernels.

    CMSIS-NN's kernels also need scratch memory.
    """
    return arena_of_tflm(exported(network.factory(), network.calibration())).activations


def _text(measure: Callable[[Network], int], network: Network) -> str:
    """Return the figure, or the first words of the reason why there is none."""
    try:
        return f"{measure(network):,}"
    except Exception as error:  # any error of their flows for unsupported networks
        return f"- ({type(error).__name__})"


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    rows = [
        (name, _text(of_executorch, network), _text(of_tflm, network))
        for name, network in NETWORKS.items()
        if _ONLY.value in name
    ]
    print(table([("network", "ExecuTorch", "TFLite Micro"), *rows], "lrr"))


if __name__ == "__main__":
    run_main(main)
