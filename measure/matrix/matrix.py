# SPDX-License-Identifier: Apache-2.0
"""The matrix of a survey, and its build targets."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PACKAGE = "pilotlight_survey"
"""The package of the targets, below a folder of their own."""

_QUANTIZATION = "--quantization="
_OUTPUTS = {
    "output": "pte",
    "program": "program",
    "report": "report.json",
    "vectors": "vectors.npz",
}


class SurveyError(Exception):
    """A survey cannot be made; the text gives the reason."""


@dataclass(frozen=True)
class MatrixModel:
    """A pte_model.

    Attributes:
      lowerings: attributes of its lowerings, by the configuration of their engine; "" for
        boards without one.
      optimize: same as pte_model's.
    """

    lowerings: Mapping[str, Mapping[str, Any]]
    optimize: str = ""

    @property
    def is_quantized(self) -> bool:
        """Return True if the model's file fixes the quantization, so that no other is possible."""
        flags = [flag for one in self.lowerings.values() for flag in one["arguments"]]
        return not any(flag.startswith(_QUANTIZATION) for flag in flags)


@dataclass(frozen=True)
class Cell:
    """One image of the matrix: full labels of a model and a board, and a quantization. "" is the
    model's own quantization.
    """

    model: str
    board: str
    quantization: str

    @property
    def name(self) -> str:
        """Name of its target, and of its plan in C."""
        return f"{self.lowered}__{_name(self.board)}"

    @property
    def lowered(self) -> str:
        """The name of its model's target."""
        return "__".join(filter(None, (f"of_{_name(self.model)}", self.quantization)))


def _name(label: str) -> str:
    """Return a unique ASCII word for a label. Bazel does not find headers with other
    names again.
    """
    target = re.sub(r"\W", "_", label.rpartition(":")[2], flags=re.ASCII)
    return f"{target}_{zlib.crc32(label.encode()):08x}"


def full(label: str) -> str:
    """Return the label with its target: `//boards/microbit:microbit`."""
    if not re.match(r"(@[^/]*)?//", label):
        raise SurveyError(
            f"{label}: write a label from the workspace's root, such as //folder:target"
        )
    return label if ":" in label else f"{label}:{label.rsplit('/', 1)[-1]}"


def cells(models: Sequence[str], boards: Sequence[str], kinds: Sequence[str]) -> list[Cell]:
    """Return every combination, each once."""
    found = [Cell(full(m), full(b), q) for m in models for q in kinds for b in boards]
    return list(dict.fromkeys(found))


def as_written(text: str) -> str:
    """Return JSON text from Bazel's query with the letters of BUILD files.

    Bazel reads the files' bytes as Latin-1 letters, and writes those in UTF-8.
    """
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def attributes(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule as Bazel's query gives it in JSON: its attributes, with `rule class`."""
    found = {one["name"]: _value(one) for one in rule["attribute"]}
    return found | {"rule class": rule["ruleClass"]}


def _value(attribute: dict[str, Any]) -> Any:
    if "labelKeyedStringDictValue" in attribute:
        return {one["value"]: one["key"] for one in attribute["labelKeyedStringDictValue"]}
    return attribute.get("stringListValue", attribute.get("stringValue", ""))


def lowering_labels(lowered: dict[str, Any]) -> dict[str, str]:
    """Return the targets that lower a model, by their engine (Model.lowerings)."""
    return {"": lowered["default"]} | (lowered.get("by_engine") or {})


def _lowered_anew(cell: Cell, model: MatrixModel) -> list[str]:
    """Return the targets that lower a model with a cell's quantization, for all its engines."""
    lines, labels = [], {}
    for engine, given in model.lowerings.items():
        name = ".".join(filter(None, (cell.lowered, engine)))
        labels[f":{name}.lowering"] = engine
        own = {flag: f"{name}.{ending}" for flag, ending in _OUTPUTS.items()} | {
            key: given[key] for key in ("input_from", "lower", "what") if given.get(key)
        }
        own["name"] = f"{name}.lowering"
        own["arguments"] = [
            _QUANTIZATION + cell.quantization if flag.startswith(_QUANTIZATION) else flag
            for flag in given["arguments"]
        ]
        texts = (f"{key} = {value!r}" for key, value in sorted(own.items()))
        lines.append(f"lowering({', '.join(texts)}, testonly = True)")
    engines = {label: engine for label, engine in labels.items() if engine}
    lines.append(
        f'lowered(name = "{cell.lowered}", by_engine = {engines!r}, '
        f'default = ":{cell.lowered}.lowering", optimize = "{model.optimize}", testonly = True)'
    )
    return lines


def build_file(
    matrix: Sequence[Cell],
    models: Mapping[str, MatrixModel],
    kernels: Sequence[str] = (),
    pilotlight: str = "",
) -> str:
    """Return the BUILD file of the survey's package.

    Args:
      matrix: the images to build.
      models: by label, those of cells with a quantization.
      kernels: labels of kernels of the user's own, for all images.
      pilotlight: the repository with the rules, "" for the current one.
    """
    lines = [
        f'load("{pilotlight}//aot/bazel:lowered.bzl", "lowered")',
        f'load("{pilotlight}//aot/bazel:lowering.bzl", "lowering")',
        f'load("{pilotlight}//firmware/apps:check_image.bzl", "check_image")',
    ]
    anew = {cell.lowered: cell for cell in matrix if cell.quantization}
    for cell in anew.values():
        lines += _lowered_anew(cell, models[cell.model])
    for cell in matrix:
        model = f":{cell.lowered}" if cell.quantization else cell.model
        lines.append(
            f'check_image(name = "{cell.name}", model = "{model}", board = "{cell.board}", '
            f"kernels = {list(kernels)!r}, testonly = True)"
        )
    return "\n".join(lines) + "\n"
