# SPDX-License-Identifier: Apache-2.0
"""Runs TOSA's conformance tests, as Vela compiled them, in the NPU model; a score by operator."""

from __future__ import annotations

import collections
import io
import re
import zipfile
from dataclasses import dataclass

import numpy as np
from absl import app

from npu.ethos_u.npu_model import CONFIGS, EthosUError, EthosUModel
from npu.ethos_u.payload import parse_payload
from tests.ethos_u.corpus.reference import Array, differing_elements, reference_outputs
from tools.text.table import table


@dataclass(frozen=True)
class VelaBug:
    """Tests miscompiled by Vela 5.1.0, and their symptom."""

    tests: str  # regular expression
    shows: str  # text in the model's error, or "differ"
    reason: str


VELA_BUGS = (
    VelaBug(
        "arithmetic_right_shift_.*_roundFalse",
        "SET_OFM_PRECISION, round_mode, of SHR: 0",
        "a shift without rounding has no counterpart, and is compiled to one with double rounding",
    ),
    VelaBug(
        "cast_.*_(i16_outi8|i32_outi8|i32_outi16)",
        "differ",
        "a narrowing cast wraps; it is compiled to an addition that saturates",
    ),
    VelaBug(
        "reverse_.*_i32_",
        "SET_IFM_PRECISION, activation_precision: 4",
        "32-bit elements are averaged, which its own constraints forbid",
    ),
    VelaBug(
        "transpose_.*_perm",
        "ETHOS_U_ERROR_READ_ONLY",
        "the intermediate of a two-step transpose of a constant is written among the constants",
    ),
    VelaBug(
        "transpose_conv2d_.*_os2x1310",
        "SET_IFM_PAD_BOTTOM, IFM rows left by the padding: 0",
        "more than 65536 rows are cut into stripes without IFM rows",
    ),
    VelaBug(
        "conv3d_.*",
        "SET_SCALE1_BASE",
        "where windows see only padding the biases of the second core's channels are left out",
    ),
)

# U85 narrows these without a clip range; its result is not public.
_NARROWED = re.compile("(cast|logical_left_shift|logical_right_shift)_.*")
_REFUSAL = "SET_OFM_PRECISION, result, beyond the OFM's type"


def _cast(array: Array, element_size: int) -> Array:
    """Return inputs in the tensor's dtype: a test's are often wider, and bools are 0 and 1."""
    array = array.astype(np.int8) if array.dtype == bool else array
    return array if array.itemsize == element_size else array.astype(f"i{element_size}")


def _failure(payload: bytes, inputs: list[Array], expected: list[Array]) -> str:
    parsed = parse_payload(payload)
    config = next(name for name, value in CONFIGS.items() if value == parsed.config)
    # If windows cover only padding, Vela drops the input.
    read = inputs if parsed.inputs else []
    casts = [_cast(a, t.element_size) for a, t in zip(read, parsed.inputs, strict=True)]
    try:
        outputs = EthosUModel(config, check_hazards=True).run(payload, casts)
    except EthosUError as error:
        return str(error)
    # A true value of the NPU is -1.
    outputs = [y != 0 if r.dtype == bool else y for y, r in zip(outputs, expected, strict=True)]
    references = [_cast(r, o.itemsize) for r, o in zip(expected, outputs, strict=True)]
    different = differing_elements(outputs, references)
    return f"{different} elements differ" if different else ""


def _outcome(archive: zipfile.ZipFile, test: str) -> tuple[str, str]:
    """Return "exact", "not compiled", "no reference", "Vela bug", "refused" or "failed", and
    details.
    """
    if f"{test}/objection" in archive.namelist():
        return "not compiled", archive.read(f"{test}/objection").decode()
    arrays = np.load(io.BytesIO(archive.read(f"{test}/inputs.npz")), allow_pickle=False)
    inputs = [arrays[f"arr_{index}"] for index in range(len(arrays.files))]
    try:
        expected = reference_outputs(archive.read(f"{test}/tosa"), inputs)
    except ValueError as error:
        return "no reference", f"the reference model takes no 48-bit inputs: {error}"
    if any(output.size == 0 for output in expected):
        return "no reference", "the reference model returns nothing (48-bit outputs)"
    failure = _failure(archive.read(f"{test}/payload"), inputs, expected)
    if not failure:
        return "exact", ""
    name = test.rsplit("/", 1)[1]
    for bug in VELA_BUGS:
        if re.match(bug.tests, name) and bug.shows in failure:
            return "Vela bug", bug.reason
    if _NARROWED.match(name) and _REFUSAL in failure:
        return "refused", failure
    return "failed", failure


def main(argv: list[str]) -> None:
    scores: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    bugs: collections.Counter[str] = collections.Counter()
    failures = []
    for path in argv[1:]:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                if not entry.endswith("/tosa"):
                    continue
                test = entry.removesuffix("/tosa")
                outcome, details = _outcome(archive, test)
                operator = re.sub(r"_\d+x\d.*", "", test.split("/")[1])
                scores[operator][outcome] += 1
                if outcome == "Vela bug":
                    bugs[details] += 1
                if outcome == "failed":
                    failures.append(f"{test}: {details}")
    outcomes = ("exact", "Vela bug", "refused", "no reference", "not compiled", "failed")
    total: collections.Counter[str] = collections.Counter()
    for score in scores.values():
        total.update(score)
    rows = [(name, *(score[o] for o in outcomes)) for name, score in sorted(scores.items())]
    totals = ("total", *(total[o] for o in outcomes))
    print(table([("operator", *outcomes), *rows, totals], "lrrrrrr"))
    for reason, count in bugs.most_common():
        print(f"Vela bug, {count} tests: {reason}")
    for failure in failures:
        print(failure)
    if failures or not total["exact"]:
        raise SystemExit(f"{len(failures)} tests failed, {total['exact']} were exact")


if __name__ == "__main__":
    app.run(main)
