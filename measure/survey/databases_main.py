# SPDX-License-Identifier: Apache-2.0
"""Lowers programs from torch's databases of operators and modules, and calls drawn from schemas.

Prints wrong programs, and programs that end in an exception other than LoweringError. Exits with 1
if an operator's outcome differs from databases.json, or anything is bare; `--update` writes that
file.

    bazel run //measure/survey:databases -- --table=operators --only='^add'
    bazel run //measure/survey:databases -- --table=modules --quantization=int16 --place=buffer
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import fcntl
import json
import math
import os
import re
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

with imports_that_stay():
    import torch
    from absl import app, flags, logging

    from aot.accept.internal_error import InternalError
    from aot.errors import LoweringError
    from aot.lower import lower
    from aot.options import Measure, Quantize
    from measure.survey.databases import PLACES, of_modules, of_operators
    from measure.survey.programs import SurveyProgram
    from measure.survey.schemas import of_schemas
    from measure.survey.survey import SurveyRow, problem_of, said

TABLES: Mapping[str, Callable[[str, int], Iterator[tuple[str, Iterator[SurveyProgram]]]]] = {
    "operators": of_operators,
    "modules": of_modules,
    "schemas": of_schemas,
}
_TABLE = flags.DEFINE_enum("table", "operators", [*TABLES], "what to draw programs from")
_PLACE = flags.DEFINE_enum("place", PLACES[0], PLACES, "where a call's tensors are")
_QUANTIZATION = flags.DEFINE_string("quantization", "int8", "int8, int16 or float32")
_SAMPLES = flags.DEFINE_integer("samples", 1, "so many of each operator", lower_bound=1)
_ONLY = flags.DEFINE_string("only", "", "a regular expression: operators of such a name")
_SHARD = flags.DEFINE_string("shard", "0/1", "index/count: of so many parts that one")
_UPDATE = flags.DEFINE_bool("update", False, "write the outcomes of this run")

BASELINE = Path("measure/survey/databases.json")
OUTCOMES = ("right", "refused", "wrong", "bare", "invalid")
_SECONDS = 120
"""Time limit of lowering. A slower program is bare: lowering does not return."""


def tried(program: SurveyProgram, quantization: str) -> SurveyRow:
    """Return a program's outcome, one of OUTCOMES, and the reason."""
    try:
        with torch.no_grad():
            program.make()(*program.samples()[0])
    except Exception as error:
        return SurveyRow("invalid", f"torch: {error}".splitlines()[0])
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _lowered(program, quantization)
    except LoweringError as error:
        return SurveyRow("refused", said(error))
    except InternalError as error:
        error.bundle.unlink()
        assert error.__cause__ is not None
        return SurveyRow("bare", _raised(error.__cause__))
    except Exception as error:
        return SurveyRow("bare", _raised(error))
    finally:
        signal.alarm(0)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"it took more than {_SECONDS} seconds")


def _lowered(program: SurveyProgram, quantization: str) -> SurveyRow:
    samples = program.samples()
    lowered = lower(
        program.make(),
        samples[0],
        calibration=samples,
        quantize=Quantize(quantization=quantization),
        measure=Measure(min_sqnr=-math.inf, min_agreement=0.0, per_op=False),
    )
    problem = problem_of(program, lowered)
    return SurveyRow("wrong", problem) if problem else SurveyRow("right", "")


def _raised(error: BaseException) -> str:
    """Return the type, the text, and the innermost line of this tree."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/aot/" in f.filename and "site-packages" not in f.filename]
    at = [f"{f.filename.rpartition('/aot/')[2]}:{f.lineno}" for f in ours[-1:]]
    return f"{type(error).__name__}: {error} at {''.join(at)}".replace("\n", " ")


def setting() -> str:
    """Return the key of a run in databases.json."""
    return f"{_TABLE.value} {_QUANTIZATION.value} {_PLACE.value} {_SAMPLES.value}"


def run() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield counts of outcomes by operator. Print programs that are wrong or bare."""
    index, parts = map(int, _SHARD.value.split("/"))
    for number, (name, programs) in enumerate(TABLES[_TABLE.value](_PLACE.value, _SAMPLES.value)):
        if number % parts != index or not re.search(_ONLY.value, name):
            continue
        outcomes: Counter[str] = Counter()
        for program in programs:
            row = tried(program, _QUANTIZATION.value)
            outcomes[row.outcome] += 1
            if row.outcome in ("wrong", "bare"):
                print(f"{program.name}: {row}", flush=True)
        yield name, dict(sorted(outcomes.items()))


def _save(path: Path, name: str, outcomes: dict[str, int]) -> None:
    """Write an operator's outcomes; other shards may do so, too."""
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        stored = json.load(file)
        rows = {**stored.get(setting(), {}), name: outcomes}
        text = as_json({**stored, setting(): dict(sorted(rows.items()))})
        file.seek(0)
        file.write(text)
        file.truncate()


def as_json(stored: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Return an operator a line."""
    tables = []
    for key, counts in sorted(stored.items()):
        rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(c)}" for n, c in counts.items())
        tables.append(f" {json.dumps(key)}: {{\n{rows}\n }}")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]!r}")
    logging.set_verbosity(logging.FATAL)
    torch.set_num_threads(1)
    path = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / BASELINE
    before = json.loads(path.read_text()).get(setting(), {})
    total: Counter[str] = Counter()
    changed = False
    for name, outcomes in run():
        total.update(outcomes)
        if name in before and before[name] != outcomes:
            print(f"{name}: {outcomes}; it was {before[name]}", file=sys.stderr)
            changed = True
        if _UPDATE.value:
            _save(path, name, outcomes)
    print(f"{setting()}: {', '.join(f'{total[o]} {o}' for o in OUTCOMES)}")
    return 1 if not _UPDATE.value and (changed or total["bare"]) else 0


if __name__ == "__main__":
    run_main(main)
