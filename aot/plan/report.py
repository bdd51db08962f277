# SPDX-License-Identifier: Apache-2.0
"""Reports of a plan: plan.json for programs, tables for people."""

from collections.abc import Iterable
from typing import Any

from aot.plan.choose import steps_down
from aot.plan.delegate_call import delegate_of
from aot.plan.graph import Graph, Step
from aot.plan.grouping import work_of
from aot.plan.layout import ALIGNMENT
from aot.plan.plan import (
    DoesNotFitError,
    Plan,
    ports,
    step_text,
    tensor_text,
    weights_bytes,
)
from aot.plan.planner import live_bytes
from aot.plan.program import PlanState, Port
from aot.plan.row_group import RowGroup
from aot.pte.reader import StoredDelegate
from boards.board import Board
from boards.does_not_fit import does_not_fit_table
from kernels.common.kernel import OpCall
from tools.text.table import table

FORMAT = 1


def plan_json(
    plan: Plan, name: str, shared: bool = False, pte_sha256: str | None = None
) -> dict[str, Any]:
    """Return steps, memory map and sizes, as in plan.schema.json.

    Sizes are bytes. Steps count from 1 (inputs are step 0). `shared` is True if other models of a
    program may use the same arena. `pte_sha256` is the hash of its .pte; the model's other files
    use it as a reference.
    """
    sharing = plan.sharing
    live = live_bytes(sharing.blocks, ALIGNMENT)
    peak = max(live, key=lambda step: (live[step], -step), default=0)
    return {
        "format": FORMAT,
        "name": name,
        **({"pte_sha256": pte_sha256} if pte_sha256 else {}),
        "board": plan.board.name,
        "isa": plan.board.isa,
        "arena": {
            "bytes": plan.arena_bytes,
            "lower_bound": live.get(peak, 0),
            "peak": {"step": peak, "what": step_text(sharing, peak)},
            "shared": shared,
            "pools": [
                {"name": use.pool.name, "bytes": use.pool.bytes, "used": use.placement.size}
                for use in plan.pools
            ],
        },
        "weights": {
            "bytes": weights_bytes(plan.constants),
            "memory": plan.board.weights,
            "constants": [
                {
                    "name": constant.name,
                    "dtype": constant.array.dtype.name,
                    "bytes": constant.array.nbytes,
                    "alignment": constant.alignment,
                    "steps": constant.users,
                }
                for constant in plan.constants
            ],
        },
        "inputs": [_port(plan, port) for port in plan.graph.program.inputs],
        "outputs": [_port(plan, port) for port in plan.graph.program.outputs],
        "states": [_state(plan, state) for state in plan.graph.program.states],
        "steps": [_step(plan, index) for index in range(1, len(sharing.steps) + 1)],
        "without_step": _without_step(plan),
        "aliases": [
            {"tensor": alias.result, "of": alias.source, "offset": alias.offset}
            for alias in sharing.aliases
        ],
        "blocks": [
            {
                "name": block.name,
                "bytes": block.size,
                "first": block.first,
                "last": block.last,
                "pool": plan.block_address(block.name).pool,
                "offset": plan.block_address(block.name).offset,
            }
            for block in sharing.blocks
        ],
    }


def _port(plan: Plan, port: Port) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tensor": port.value.name,
        "dtype": port.value.dtype,
        "shape": list(port.shape),
        "layout": port.layout,
        "scale": port.scale,
        "zero_point": port.zero_point,
        "bytes": port.value.bytes,
    }
    if port.value is plan.graph.streamed:
        fields |= {"by_rows": True}
    elif port.value.name in plan.graph.activations:
        address = plan.address(port.value.name)
        fields |= {"pool": address.pool, "offset": address.offset}
    return fields


def _op(call: OpCall) -> dict[str, str]:
    return {"id": call.id, "op": call.op, "module": call.module}


def _without_step(plan: Plan) -> list[dict[str, str]]:
    """Return ops without a kernel call: their results are constants or aliases of inputs."""
    run = {step.op.outputs for step in plan.sharing.steps}
    for group in (step.rows for step in plan.sharing.steps if step.rows is not None):
        run |= {member.step.op.outputs for member in group.members}
    return [_op(call) for call in plan.graph.program.calls if call.outputs not in run]


def _state(plan: Plan, state: PlanState) -> dict[str, Any]:
    address = plan.address(state.value.name)
    return {
        "tensor": state.value.name,
        "new": state.new.name,
        "dtype": state.value.dtype,
        "shape": list(state.value.shape),
        "bytes": state.value.bytes,
        "pool": address.pool,
        "offset": address.offset,
    }


def _step(plan: Plan, index: int) -> dict[str, Any]:
    step = plan.sharing.steps[index - 1]
    delegate = delegate_of(step.op)
    used = [block.size for block in plan.sharing.blocks if block.first <= index <= block.last]
    over = _over(plan, step)
    return {
        "step": index,
        **_op(step.op),
        "function": step.kernel.function,
        "inputs": [tensor_text(value) for value in step.reads],
        "outputs": [tensor_text(value) for value in step.writes],
        "in_place": index in plan.sharing.in_place,
        **({} if over is None else {"over": over}),
        "scratch": step.kernel.scratch,
        "constants": sum(
            constant.array.nbytes for constant in plan.constants if index in constant.users
        ),
        "live_bytes": sum(used) - _shared_bytes(plan, index),
        **({} if delegate is None else {"delegate": _delegate(delegate)}),
        **({} if step.rows is None else {"rows": _rows(step.rows)}),
    }


def _rows(group: RowGroup) -> dict[str, Any]:
    """Return the row group of a step."""
    return {
        "calls": group.calls,
        "moved_bytes": group.moved_bytes,
        "members": [
            {
                **_op(member.step.op),
                "function": member.step.kernel.function,
                "output": tensor_text(member.output),
                "rows": member.made,
                "row_bytes": member.row_bytes,
                "ring_rows": slots,
            }
            for member, slots in zip(group.members, group.slots, strict=True)
        ],
    }


def _over(plan: Plan, step: Step) -> dict[str, Any] | None:
    """Return the alias of a step's result and input, if the kernel's access order permits it."""
    values = {value.name: value for value in step.reads}
    for near in step.kernel.overlap:
        if near.source not in values:
            continue
        at, to = plan.address(near.source), plan.address(near.result)
        size = plan.graph.activations[near.result].bytes
        before = at.offset - to.offset
        if at.pool == to.pool and -values[near.source].bytes < before < size:
            return {
                "input": near.source,
                "output": near.result,
                "distance": near.distance,
                "before": before,
            }
    return None


def _shared_bytes(plan: Plan, index: int) -> int:
    """Return the number of bytes that a step's blocks share."""
    sizes = {block.name: block.size for block in plan.sharing.blocks}
    shared = 0
    for block in plan.sharing.blocks:
        for name in (over.block for over in block.over if block.first == index):
            a, b = plan.block_address(block.name), plan.block_address(name)
            ends = a.offset + block.size, b.offset + sizes[name]
            if a.pool == b.pool:
                shared += max(0, min(ends) - max(a.offset, b.offset))
    return shared


def _delegate(delegate: StoredDelegate) -> dict[str, Any]:
    return {
        "backend": delegate.backend,
        "configuration": delegate.needs.configuration,
        "payload": len(delegate.payload),
        "alignment": delegate.needs.alignment,
    }


def plan_text(plan: Plan, name: str) -> str:
    """Return the steps with bytes in use, the memory map, and sums."""
    fields = plan_json(plan, name)
    rows = [("step", "op", "result", "in use", "scratch", "constants", "from")]
    for step in fields["steps"]:
        mark = " (in place)" if step["in_place"] else ""
        if "over" in step:
            mark = f" (over its input, {step['over']['before']:,} before it)"
        rows.append(
            (
                str(step["step"]),
                step["op"],
                ", ".join(step["outputs"]) + mark,
                f"{step['live_bytes']:,}",
                f"{step['scratch']:,}",
                f"{step['constants']:,}",
                f"{step['id']} {step['module']}",
            )
        )
        rows += [_member_row(member) for member in step.get("rows", {"members": []})["members"]]
    lines = [
        f"{name} on {fields['board']} ({fields['isa']} kernels)",
        *ports(plan),
        "",
        table(rows, "rllrrr"),
        "",
    ]
    arena = fields["arena"]
    for pool in arena["pools"]:
        lines.append(f"arena in {pool['name']}: {pool['used']:,} bytes of {pool['bytes']:,}")
    groups = [step["rows"] for step in fields["steps"] if "rows" in step]
    if groups:
        calls, moved = (sum(g[key] for g in groups) for key in ("calls", "moved_bytes"))
        lines.append(
            f"by rows: {sum(len(g['members']) for g in groups)} calls as {calls:,} of one row, "
            f"rings move {moved:,} bytes an inference"
        )
    lines.append(f"lower bound {arena['lower_bound']:,} bytes, reached at {arena['peak']['what']}")
    weights = fields["weights"]
    lines.append(f"constants: {weights['bytes']:,} bytes in {weights['memory']}")
    return "\n".join(lines) + "\n"


def steps_down_text(graphs: Iterable[Graph], plan: Plan) -> str:
    """Return a table of smaller plans, selected by plan_library(arena = …).

    It has the next plan with more memory, and all with less.

    Args:
      graphs: those of graphs_of.
      plan: of one of them.
    """
    more = "instructions more than the fastest calls\n"
    now = work_of(plan.graph.steps)
    steps = steps_down(graphs, sum(pool.bytes for pool in plan.board.arena))
    up = [step for step in steps if step[0] > plan.arena_bytes and step[1] < now][-1:]
    down = [step for step in steps if step[0] < plan.arena_bytes]
    names = ["step up"] * len(up) + ["next step down", *["and then"] * len(down)][: len(down)]
    lines = [
        f"{name}: about {size:,} bytes of arena, for about {work:,} {more}"
        for name, (size, work) in zip(names, up + down, strict=True)
    ]
    none = [] if down else ["next step down: none, it is the smallest plan\n"]
    return "".join([f"this plan: about {now:,} {more}", *lines, *none])


def _member_row(member: dict[str, Any]) -> tuple[str, str, str, str, str, str, str]:
    """Return a table row for a call of a row group, with the part of its output in memory."""
    ring = member["ring_rows"]
    kept = f"ring of {ring} rows" if ring else f"all {member['rows']} rows"
    size = f"{ring * member['row_bytes']:,}" if ring else ""
    place = f"{member['id']} {member['module']}"
    return "", f"  {member['op']}", f"{member['output']} ({kept})", "", size, "", place


def does_not_fit_text(
    error: DoesNotFitError, name: str, board: Board, most: int | None = None
) -> str:
    """Return a table for a model that exceeds a board, or an arena of `most` bytes."""
    what = "constants" if error.memory == "weights" else "activations and scratch memory"
    where = " and ".join(error.pools)
    if error.memory == "arena" and error.have == most:
        where = f"an arena of {most:,} bytes in {where}"
    return does_not_fit_table(
        f"{name} does not fit on {board.name}: {what} are too large for {where}.",
        error.need,
        error.have,
        [("peak at" if error.memory == "arena" else "largest used by", error.where)],
        error.largest,
    )
