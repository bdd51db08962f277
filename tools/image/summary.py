# SPDX-License-Identifier: Apache-2.0
"""Final table of an image's run, in the simulator or on a board."""

from typing import Any

from tools.image.profile import estimate_rows
from tools.simulator.simulate import Run
from tools.text.table import table


def _fact(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2%}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _stats(run: Run) -> dict[str, str]:
    rows: dict[str, str] = {}
    total = next(iter(run.stats.values()), 0)
    for name, value in run.stats.items():
        share = f" ({value / total:.2%})" if rows and total else ""
        rows[name] = f"{value:,}{share}"
    return rows


def _sizes(size: dict[str, Any]) -> dict[str, str]:
    rows: dict[str, str] = {}
    for memory in size["memories"]:
        used, available = memory["used"], memory["size"]
        if used:
            share = f"{used:,} of {available:,} bytes ({used / available:.1%})"
            rows[f"{memory['name']} ({memory['kind']})"] = share
    stack = size["stack"]
    bound = "no bound" if stack["bound"] is None else f"at most {stack['bound']:,}"
    return rows | {"of that the stack": f"{bound} of {stack['size']:,} bytes"}


def summary(
    run: Run,
    size: dict[str, Any],
    facts: dict[str, Any],
    counted: dict[str, Any] | None,
    modelled: str = "",
    cycles: int | None = None,
) -> str:
    """Return the final table of a run.

    Args:
      run: the run.
      size: the image's size.json.
      facts: rows for the top.
      counted: its profile, None on a board.
      modelled: configuration of the NPU that the core ran a model of; the model's instructions
        are counted, too.
      cycles: of an inference, on a board with counted cycles.
    """
    rows = {name: _fact(value) for name, value in facts.items()} | _stats(run)
    if modelled:
        rows["NPU"] = f"{modelled}, a functional model in the firmware"
    if counted and counted["inferences"]:
        with_model = ", with those of the NPU's model" if modelled else ""
        rows["instructions per inference"] = f"{counted['instructions']:,}{with_model}"
        rows |= {name: f"{text}{with_model}" for name, text in estimate_rows(counted).items()}
    if cycles is not None:
        rows["cycles per inference"] = f"{cycles:,}, of all steps"
    rows |= _sizes(size)
    title = f"{size['name']} on {size['board']} ({size['core']}){', simulated' if counted else ''}"
    return f"{title}\n{table(list(rows.items()), indent='  ')}"
