# SPDX-License-Identifier: Apache-2.0
"""Selects row groups so that a model stays within a limit of bytes.

While a step or group runs, it may not need more than a limit. Dynamic programming over the steps
finds the groups with the least work among all keeping the limit. Other memory in use during a group
does not depend on the other groups, so each group is evaluated by itself. A real placement may take
more; the caller therefore tries limits.
"""

from collections.abc import Iterator, Mapping, Sequence

from aot.plan.graph import Graph, Step
from aot.plan.layout import ALIGNMENT
from aot.plan.planner import Over, align_up
from aot.plan.row_group import MOST_CALLS, RowGroup
from aot.plan.rows import Rows
from kernels.common.kernel import KernelCall

# Rough instructions: of a call of a row in addition to the kernel's loops; of a byte written by a
# fallback call, in addition to the faster one.
_CALL = 500
_NEARER = {
    "pl_depthwise_conv2d_s8": 60,
    "pl_depthwise_spread_s8": 60,
    "pl_depthwise_columns_s8": 4,
    "pl_depthwise_direct_s8": 10,
    "pl_linear_s8": 80,
    "pl_linear_w4_s8": 80,
    "pl_max_pool2d_s8": 3,
    "pl_avg_pool2d_s8": 4,
}
_NEARER_BLOCKS = 2
_NEARER_WINDOWS = 8
_PIECES = 2
"""Cost of a byte read by im2col from a virtual concat; once for all windows of a row sharing it."""


class Grouping:
    """Memory of a graph's steps and row groups, and the fastest groups within a limit.

    Args:
      rows: of the graph, if they exist already.
      fallback: True if single steps may be fallback calls. If results alias their inputs
        along a whole chain, each step moves them on. This may take more memory than row
        streaming.
    """

    def __init__(self, graph: Graph, rows: Rows | None = None, fallback: bool = True) -> None:
        self._fallback = fallback
        self.rows = Rows(graph) if rows is None else rows
        self._steps = graph.steps
        self._sizes = {
            name: _room(value.bytes)
            for name, value in graph.activations.items()
            if self.rows.root(name) == name
        }
        inputs = {self.rows.root(value.name) for value in graph.inputs}
        self._first = dict.fromkeys(inputs, -1)
        for index, step in enumerate(graph.steps):
            for value in step.writes:
                self._first.setdefault(self.rows.root(value.name), index)
        self._last = {
            name: max(self.rows.last.get(name, at), at) for name, at in self._first.items()
        }
        for name in {self.rows.root(state.value.name) for state in graph.program.states}:
            self._first[name], self._last[name] = -1, len(graph.steps)
        self._needs: dict[tuple[int, int], int] = {}
        self._options: dict[int, list[tuple[int, int]]] = {}

    def limits(self, have: int) -> Iterator[int]:
        """Yield limits to try, from the largest down to the smallest feasible one.

        The least one may exceed the available bytes; the need is then reported.

        Args:
          have: available bytes.
        """
        steps = {self.needs(i, i + 1) for i in range(len(self._steps))}
        most = max(steps, default=0)
        low, high = 0, most // ALIGNMENT  # whole units: all needs are
        while high - low > 1:
            middle = (low + high) // 2
            if self.groups(middle * ALIGNMENT) is None:
                low = middle
            else:
                high = middle
        least = high * ALIGNMENT
        if least <= have < most:
            yield have
        eighths = {least * (8 + more) // 8 for more in (12, 8, 6, 4, 3, 2, 1)}
        limits = {limit for limit in steps | eighths if least < limit < min(most, have)}
        yield from sorted(limits, reverse=True)
        if least < most:
            yield least

    def groups(self, limit: int) -> Mapping[int, RowGroup] | None:
        """Return row groups by their first step, for a limit of bytes at each step, else None."""
        count = len(self._steps)
        alone = [self._alone(i, limit) for i in range(count)]
        best: list[tuple[int, int] | None] = [(0, 0)] + [None] * count
        for end in range(1, count + 1):
            options = []
            for begin in range(end - 1, max(-1, end - 1 - MOST_CALLS), -1):
                before = best[begin]
                if before is None:
                    continue
                if begin == end - 1:
                    cost = alone[begin]
                    if cost is not None:
                        options.append((before[0] + cost, begin))
                elif any(alone[begin:end]) or None in alone[begin:end]:
                    if not self._keeps(begin, end, limit):
                        continue
                    group = self._chosen(begin, end, limit)
                    options.append((before[0] + _cost(group), begin))
            best[end] = min(options, default=None)
        found: dict[int, RowGroup] = {}
        end = count
        while end > 0:
            cut = best[end]
            if cut is None:
                return None
            begin = cut[1]
            if end - begin > 1:
                found[begin] = self._restored(begin, end, limit)
            end = begin
        return found

    def work(self, groups: Mapping[int, RowGroup], limit: int) -> int:
        """Return estimated instructions of the groups for a limit, on top of those of the fastest
        calls.
        """
        inside = {i for at, group in groups.items() for i in range(at, at + len(group.members))}
        alone = (self._alone(i, limit) or 0 for i in range(len(self._steps)) if i not in inside)
        return sum(map(_cost, groups.values())) + sum(alone) + _of_pieces(self._steps)

    def needs(self, begin: int, end: int) -> int:
        """Return the bytes in use from step `begin` to before `end`; several steps are one group.

        The calls with the smallest need are used.
        """
        if (begin, end) not in self._needs:
            self._needs[begin, end] = self._need(begin, end)
        return self._needs[begin, end]

    def _alone(self, index: int, limit: int) -> int | None:
        """Return the extra cost of a step that runs alone under a limit; None if it exceeds the
        limit.
        """
        return next((cost for need, cost in self._calls(index) if need <= limit), None)

    def _calls(self, index: int) -> list[tuple[int, int]]:
        """Return the bytes in use and the extra cost of each call of a single step, the fastest
        first.
        """
        if index not in self._options:
            step = self._steps[index]
            calls = [(step.kernel, 0)]
            if self._fallback:
                calls += [(call, _fallback_cost(step, call)) for call in _fallback_calls(step)]
            self._options[index] = [
                (self._need_of(step, call, index, index + 1), cost) for call, cost in calls
            ]
        return self._options[index]

    def _chosen(self, begin: int, end: int, limit: int) -> RowGroup:
        """Return the fastest row group for the steps under a limit."""
        group = self.rows.group(begin, end)
        assert group is not None
        beside = self.needs(begin, end) - _room(group.leanest.scratch)
        while beside + _room(group.scratch) > limit:
            group = group.leaner
        return group

    def _restored(self, begin: int, end: int, limit: int) -> RowGroup:
        """Return the group without needless fallback calls. The most costly are replaced first."""
        fast, group = self.rows.group(begin, end), self._chosen(begin, end, limit)
        assert fast is not None
        beside = self.needs(begin, end) - _room(group.leanest.scratch)
        fallback = [i for i, member in enumerate(group.members) if member.is_fallback]

        def cost(index: int) -> int:
            step = group.members[index].step
            return _fallback_cost(step, step.kernel)

        for index in sorted(fallback, key=cost, reverse=True):
            members, member = [*group.members], fast.members[index]
            while member.scratch > group.members[index].scratch:
                members[index] = member
                other = group.with_members(members)
                if beside + _room(other.scratch) <= limit:
                    group = other
                    break
                member = member.leaner
        return group

    def _keeps(self, begin: int, end: int, limit: int) -> bool:
        """Return True if the steps, as a row group, stay below a limit."""
        if (begin, end) not in self._needs:
            ends = self._around(begin, end)
            largest = max((self._sizes[name] for name in ends), default=0)
            if largest + self._beside(begin, end) > limit or not self.rows.group(begin, end):
                return False
        return self.needs(begin, end) <= limit

    def _around(self, begin: int, end: int) -> list[str]:
        """Return tensors that begin or end during these steps and are also used outside of them."""
        return [
            name
            for name, first in self._first.items()
            if first < end
            and self._last[name] >= begin
            and (first < begin) != (self._last[name] >= end)
        ]

    def _beside(self, begin: int, end: int) -> int:
        """Return the bytes of tensors that live before, during and after these steps."""
        return sum(
            self._sizes[name]
            for name, first in self._first.items()
            if first < begin and self._last[name] >= end
        )

    def _need(self, begin: int, end: int) -> int:
        if end - begin == 1:
            return min(need for need, _ in self._calls(begin))
        group = self.rows.group(begin, end)
        assert group is not None
        step = group.leanest.step
        return self._need_of(step, step.kernel, begin, end)

    def _need_of(self, step: Step, kernel: KernelCall, begin: int, end: int) -> int:
        inner = {m.output.name for m in step.rows.members if not m.leaves} if step.rows else set()
        live = sum(
            self._sizes[name]
            for name, first in self._first.items()
            if first < end and self._last[name] >= begin and name not in inner
        )
        near = [(over.source, over.result, over.distance) for over in kernel.overlap]
        near += [(source, result, 0) for source, result in kernel.in_place]
        reads = {value.name: value for value in step.reads}
        found: dict[tuple[str, str], int] = {}
        for source, result, distance in near:
            found[source, result] = min(found.get((source, result), distance), distance)
        pairs: dict[tuple[str, str], int] = {}
        for (source, result), distance in found.items():
            root, to = self.rows.root(source), self.rows.root(result)
            dies = self._last.get(root) in range(begin, end) and self._first[to] >= begin
            if source in reads and dies and self._sizes[root] == _room(reads[source].bytes):
                over = Over(root, -distance, reads[source].bytes)
                both = over.most(self._sizes[to], self._sizes[root], ALIGNMENT)
                pairs[root, to] = min(pairs.get((root, to), both), both)
        shared = max(pairs.values(), default=0)
        return live + _room(kernel.scratch) - shared


def work_of(steps: Sequence[Step]) -> int:
    """Return estimated instructions of a plan's steps, on top of those of the fastest calls."""
    groups = sum(_cost(step.rows) for step in steps if step.rows is not None)
    fallback = sum(_fallback_cost(step, step.kernel) for step in steps if step.is_fallback)
    return groups + fallback + _of_pieces(steps)


def _of_pieces(steps: Sequence[Step]) -> int:
    """Return the estimated cost of virtual concats."""
    calls = [m.step.op for s in steps if s.rows is not None for m in s.rows.members]
    calls += [step.op for step in steps if step.rows is None]
    work = 0
    for call in calls:
        if call.op == "plan::conv2d_pieces":
            _, height, width, _ = call.output().shape
            _, rows, _, channels = call.tensor("weight").shape
            work += _PIECES * height * width * rows * channels
    return work


def _cost(group: RowGroup) -> int:
    """Return the extra cost of a row group, compared with single calls."""
    fallback = (m.step for m in group.members if m.is_fallback)
    more = sum(_fallback_cost(step, step.kernel) for step in fallback)
    return _CALL * group.calls + group.moved_bytes + more


def _fallback_calls(step: Step) -> Iterator[KernelCall]:
    """Yield fallback calls, the fastest first."""
    kernel = step.kernel.fallback
    while kernel is not None:
        yield kernel
        kernel = kernel.fallback


def _fallback_cost(step: Step, kernel: KernelCall) -> int:
    """Return the extra cost of a fallback call, compared with the faster call."""
    cost = _NEARER.get(kernel.function)
    if cost is None:
        # A matrix product has no window.
        is_product = all(kernel.dims.get(name, 1) == 1 for name in ("kernel_h", "kernel_w"))
        cost = _NEARER_BLOCKS if is_product else _NEARER_WINDOWS
    return cost * sum(value.bytes for value in step.writes)


def _room(size: int) -> int:
    return align_up(size, ALIGNMENT)
