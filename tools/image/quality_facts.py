# SPDX-License-Identifier: Apache-2.0
"""Rows of the table of `.sim` (sim.py) for the quality of an image's models and their NPU use.

quality_facts output.json [model.report.json ...] [model.npu.json ...]

Reports come from lowering. Models lowered by other tools have the output of npu_estimate.py.
"""

import json
import sys
from pathlib import Path
from typing import Any

_REPORT, _ESTIMATE = ".report.json", ".npu.json"


def facts(
    reports: dict[str, dict[str, Any]], estimates: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return rows by name, from lowering reports by model name. If there are several models, each
    row's name includes the model. A row has the worst value of the model's outputs.

    Args:
      estimates: of models without a report.
    """
    rows: dict[str, Any] = {}
    estimates = estimates or {}
    is_one = len(reports) + len(estimates) == 1
    for name, report in reports.items():
        quality = report["quality"]
        of = "" if is_one else f"{name}: "
        if quality["accuracy"] is not None:
            rows[f"{of}accuracy in float32"] = quality["accuracy"]["float32"]
            how = "in int8" if report["quantization"] == "int8" else "quantized"
            rows[f"{of}accuracy {how}, on the host"] = quality["accuracy"]["int8"]
        metric = quality["metric"]
        if metric is not None:
            both = f"{metric['int8']:.4g}, {metric['float32']:.4g} in float32"
            rows[f"{of}{metric['name']}, on the host"] = both
        samples = f"{quality['samples']:,} {'held-out' if quality['held_out'] else 'calibration'}"
        for key, row, form in (
            ("sqnr_db", "SQNR against float32", "{:.1f} dB"),
            ("agreement", "agreement with float32", "{:.2%}"),
        ):
            values = [o[key] for o in quality["outputs"] if o[key] is not None]
            if values:
                rows[of + row] = f"{form.format(min(values))} on {samples} samples"
        if report["warnings"]:
            rows[f"{of}warnings of lowering"] = len(report["warnings"])
        cycles = sum(_cycles(delegate["report"]) for delegate in report["delegates"])
        if cycles:
            rows[f"{of}NPU cycles, estimated"] = cycles
        left = sum(op["delegate"] is None and bool(op["not_on"]) for op in report["ops"])
        if left:
            rows[f"{of}ops not on the NPU"] = (
                f"{left} of {len(report['ops'])}: .report has the reasons"
            )
    for name, told in estimates.items():
        of = "" if is_one else f"{name}: "
        if told:
            unknown = f"not known: there is no model of {told['npu']}"
            rows[f"{of}NPU cycles, estimated"] = told["cycles"] or unknown
        if told and told["left"]:
            rows[f"{of}ops not on the NPU"] = f"{told['left']}, as it was lowered elsewhere"
    return rows


def _cycles(report: dict[str, Any]) -> int:
    """Return a delegate's cycles: from the NPU model, else the sum of the compiler's cycles by
    layer; 0 if the backend reports none.
    """
    if "cycles" in report:
        return int(report["cycles"])
    return sum(int(layer["cycles"]) for layer in report.get("layers", []))


def main(argv: list[str]) -> None:
    output, *paths = map(Path, argv[1:])
    given = [
        {p.name.removesuffix(s): json.loads(p.read_text()) for p in paths if p.name.endswith(s)}
        for s in (_REPORT, _ESTIMATE)
    ]
    output.write_text(json.dumps(facts(*given), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv)
