# SPDX-License-Identifier: Apache-2.0
"""Prints the cost of int8 for each ready-made model: accuracy if there are labels, SQNR for all.

bazel run //aot/models:evaluate
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

with imports_that_stay():
    import torch
    from absl import app, flags
    from torch import nn

    from aot.lower import lower
    from aot.models.metrics import Accuracy, accuracy, sqnr_db
    from aot.options import grouped
    from aot.testing.lockstep import Lockstep, compare
    from tools.text.table import table

MODELS = ("digits", "ds_cnn", "mobilenet_v1", "resnet8", "deep_autoencoder")
LOCKSTEP_SAMPLES = 8

_OBSERVER = flags.DEFINE_string("observer", "histogram", "as of lower()")
_EQUALIZE = flags.DEFINE_bool("equalize", False, "as of lower()")


@dataclass(frozen=True)
class Evaluation:
    """A lowered model compared with its float module.

    Attributes:
      sqnr_db: over the model's test inputs, before the softmax: its saturation would
        improve it.
      lockstep: the dialect's integers against torchao's quantized graph, on a few inputs.
      accuracy: None if there are no labels.
      pte_bytes: size of the artefact.
    """

    sqnr_db: float
    lockstep: Lockstep
    accuracy: Accuracy | None
    pte_bytes: int

    @property
    def off_by_one_rate(self) -> float:
        """Return the share of inner values differing by one step from torchao's."""
        differences = self.lockstep.by_op.values()
        return sum(d.off_by_one for d in differences) / sum(d.elements for d in differences)


def definition(model: str) -> ModuleType:
    """Return the Python module defining a ready-made model."""
    return importlib.import_module(f"aot.models.{model}.model")


def logits(module: nn.Module) -> nn.Module:
    """Return the network without its last softmax, changed in place."""
    if hasattr(module, "softmax"):
        module.softmax = nn.Identity().eval()
    return module


def evaluate(model: str, **options: Any) -> Evaluation:
    """Lower a ready-made model, with options of `lower`, and compares it with its float module."""
    source = definition(model)
    module = logits(source.factory())
    samples = list(source.test_inputs())
    lowered = lower(module, samples[0], calibration=source.calibration(), **grouped(options))
    measured = None
    if hasattr(source, "evaluation"):
        measured = accuracy(module, lowered, *source.evaluation())
    return Evaluation(
        sqnr_db(module, lowered, samples),
        compare(lowered, samples[:LOCKSTEP_SAMPLES]),
        measured,
        len(lowered.pte),
    )


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    rows = [("model", ".pte", "SQNR", "off by one", "accuracy float / int8")]
    for model in MODELS:
        result = evaluate(model, observer=_OBSERVER.value, equalize=_EQUALIZE.value)
        shown = ""
        if result.accuracy is not None:
            shown = f"{result.accuracy.float32:.2%} / {result.accuracy.int8:.2%}"
        sqnr, off_by_one = f"{result.sqnr_db:.1f} dB", f"{result.off_by_one_rate:.3%}"
        rows.append((model, f"{result.pte_bytes:,}", sqnr, off_by_one, shown))
    print(table(rows, "lrrrr"))


if __name__ == "__main__":
    run_main(main)
