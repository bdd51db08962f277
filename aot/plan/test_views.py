# SPDX-License-Identifier: Apache-2.0
"""Views read by delegates of ExecuTorch programs. No instruction writes them."""

import pytest

from aot.plan import pte
from aot.plan.views import views_of
from aot.pte import schema
from aot.pte.conventions import Border, Needs
from aot.pte.reader import PteContents, StoredDelegate

_BYTES = 1
_DELEGATE = StoredDelegate("Engine", b"payload", Needs("", 0, 16))


def _tensor(place: int, *sizes: int) -> schema.EValue:
    return schema.EValue(
        schema.Tensor(
            scalar_type=_BYTES,
            storage_offset=0,
            sizes=list(sizes),
            dim_order=list(range(len(sizes))),
            data_buffer_idx=0,
            allocation_info=schema.AllocationDetails(1, place, 0),
            shape_dynamism=schema.STATIC_SHAPE,
            extra_tensor_info=None,
        )
    )


def _plan(*args: list[int]) -> schema.ExecutionPlan:
    """Return a plan with two delegates.

    The first delegate computes value 1 from the input, value 0. Value 2 is value 1 in another
    shape. The second delegate has `args`, and value 3 is its result.
    """
    values = [_tensor(0, 4, 4), _tensor(16, 2, 8), _tensor(16, 16), _tensor(32, 4, 4)]
    calls = [schema.DelegateCall(i, list(a)) for i, a in enumerate(([0, 1], *args))]
    chain = schema.Chain([schema.Instruction(call) for call in calls])
    return schema.ExecutionPlan("forward", values, [0], [3], [chain], [], [])


@pytest.mark.parametrize("args", [[2, 3], [0, 2, 3], [2, 0, 3]])
def test_a_delegate_reads_a_view(args: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(args)
    views = views_of(plan, [1, len(args) - 1])
    assert views == {2: 1}
    border = (Border(0.0, 0, "row_major"),)
    delegates, modules = (_DELEGATE, _DELEGATE), ("", "")
    artefact = PteContents(plan, (), (), delegates, border, border, modules, views)
    monkeypatch.setattr(pte, "read_artefact", lambda data: artefact)
    first, second = pte.read_program(b"").calls
    view = second.args["inputs"][args.index(2)]
    assert (view.name, view.shape) == (first.outputs[0].name, (16,))
    assert [value.name for value in second.outputs] == ["value 3"]


def test_results_of_delegates_are_no_views() -> None:
    assert views_of(_plan([1, 2, 3]), [1, 1]) == {}
