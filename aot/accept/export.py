# SPDX-License-Identifier: Apache-2.0
"""Exports an nn.Module to the ATen graph for quantization: checks, export, and decomposition into
the ops that rules support.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound
from torch.fx.node import map_arg

from aot.accept.constant_values import ConstantValues
from aot.accept.data_attribute import DataAttributeMode
from aot.accept.program import result_paths, tensor_names
from aot.accept.python_state import check_python_state
from aot.accept.requirements import (
    check_decomposed,
    check_dense,
    check_effects,
    check_float,
    check_inputs,
    check_module,
    check_shapes,
    check_signature,
    check_weights,
)
from aot.accept.shaped_state import state_shaped
from aot.accept.trace_errors import as_it_takes, trace_error
from aot.accept.weight_hooks import hooked_weights_kept
from aot.dialect.graph import drop_dead_code, returned, state_of
from aot.errors import LoweringError, place, raising_line, raising_module, takes_gradient
from aot.passes.aten.attention import decompose_attention
from aot.passes.aten.attention.mask_softmax import mask_softmax
from aot.passes.aten.build import call
from aot.passes.aten.channels.fold_channel_order import fold_channel_order
from aot.passes.aten.channels.fold_scales import fold_scales
from aot.passes.aten.constants.drop_zeros import drop_zeros
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.constants.free_names import free_names
from aot.passes.aten.constants.narrow_constants import narrow_constants
from aot.passes.aten.constants.separate_weights import separate_weights
from aot.passes.aten.constants.uninitialized_memory import zero_uninitialized_memory
from aot.passes.aten.decompositions import binary_ops
from aot.passes.aten.decompositions.complex_to_pairs import complex_to_pairs
from aot.passes.aten.decompositions.rare_ops import decompose_rare_ops
from aot.passes.aten.integers.integer_inputs import integer_inputs_to_float
from aot.passes.aten.integers.lift_rank_zero import lift_rank_zero
from aot.passes.aten.layers.products_to_linear import products_to_linear
from aot.passes.aten.layers.split_layers import split_layers
from aot.passes.aten.masks.additive_masks import additive_masks
from aot.passes.aten.masks.input_masks import input_masks
from aot.passes.aten.masks.mask_sentinels import replace_mask_sentinels
from aot.passes.aten.masks.name_masks import name_masks
from aot.passes.aten.masks.noop_clamps import drop_noop_clamps
from aot.passes.aten.movement import parts_to_cat
from aot.passes.aten.movement.assignments_to_gather import assignments_to_gather
from aot.passes.aten.movement.crops_to_padding import crops_to_padding
from aot.passes.aten.movement.drop_expands import drop_expands
from aot.passes.aten.movement.hoist_clamps import hoist_clamps
from aot.passes.aten.movement.remove_identities import remove_identities
from aot.passes.aten.movement.select_by_value import select_by_value
from aot.passes.aten.movement.split_to_slices import split_to_slices
from aot.passes.aten.norms.fold_normalisation import fold_normalisation
from aot.passes.aten.norms.fuse_batch_norm import fuse_batch_norm, note_batches
from aot.passes.aten.norms.fuse_norms import fuse_norms
from aot.passes.aten.norms.instance_to_group_norm import instance_to_group_norm
from aot.passes.aten.norms.scaled_powers import scaled_powers
from aot.passes.aten.norms.sums_to_norms import sums_to_norms
from aot.passes.aten.recurrent import split_recurrent
from aot.passes.aten.recurrent.fuse_recurrent import fuse_recurrent
from aot.passes.aten.spatial import resampling
from aot.passes.aten.spatial.average_to_mean import average_to_mean
from aot.passes.aten.spatial.drop_pool_indices import drop_pool_indices
from aot.passes.aten.spatial.one_to_two_dimensions import one_to_two_dimensions
from aot.passes.aten.spatial.pools_to_2d import pools_to_2d
from aot.passes.aten.spatial.three_to_two_dimensions import three_to_two_dimensions
from aot.passes.aten.state.lift_state import (
    assignments_kept,
    lift_state,
    make_functional,
    take_tensors,
)
from aot.rules import KEPT
from aot.rules.function import mark_materialized
from aot.rules.integers import is_given
from aot.upstream.torch import PyTreeCodeGen, PyTreeInfo, tree_leaves, tree_structure
from aot.upstream.torch_export import call_names_matched_fast, causal_masks_unread, export_silent

_aten = torch.ops.aten


def export_aten(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Sequence[torch.Tensor],
    keeps: Iterable[Any] = (),
    trains: bool = False,
) -> GraphModule:
    """Return the model as one static, functional ATen graph.

    Constants are get_attr nodes. Buffers changed by the model are State (aot.dialect.graph). Two
    entries of the graph's `meta` describe the outputs:

    - `meta["computed"]`: flat positions of the outputs among the model's results. Only
      computed results are outputs.
    - `meta["paths"]`: place of each output in the model's return value
      (aot.accept.program).

    Args:
      model: in eval mode; or an exported program (then of static shapes).
      example_inputs: one set of inputs. Their shapes, dtypes and memory format are fixed
        in the artefact.
      keeps: ATen ops to leave whole, in addition to those with a form of their own in the
        dialect.
      trains: keep the weights in the size for a learning rate.

    Raises:
      LoweringError: the model is no module, is in training mode, has NaN or infinite
        weights, or has dynamic shapes; its inputs differ from the example's; it computes
        no result; it returns a state, or an input that is not float32, unchanged; it
        keeps state in Python; its state is not float32 or has no memory of its own; it
        checks its data; or it cannot be exported.
    """
    if isinstance(model, ExportedProgram):
        program = model
        check_float(model.graph)
        check_weights({**model.state_dict, **model.constants})
    else:
        check_module(model)
        with state_shaped(model, example_inputs):
            check_python_state(model, example_inputs)
            program = _export(model, tuple(example_inputs))
    check_dense(program)
    check_inputs(program)
    check_signature(program, example_inputs)
    decomposed = decompose(program, keeps)
    check_shapes(decomposed)
    check_decomposed(decomposed)
    check_effects(decomposed)
    _forget_writes_to_inputs(decomposed)
    # The guards would check shapes and dtypes. These are static here, and the device checks them in
    # every call.
    with call_names_matched_fast():
        module = decomposed.module(check_guards=False)
    assert isinstance(module, GraphModule)
    if isinstance(model, ExportedProgram):
        _take_tensors_alone(module, tensor_names(program), trains)
    else:
        note_batches(module, model)
    for rewrite in (
        lift_state,
        functools.partial(zero_uninitialized_memory, inputs=example_inputs),
        fuse_recurrent,
        select_by_value,
        remove_identities,
        lift_rank_zero,
        parts_to_cat.parts_to_cat,
        split_to_slices,
        integer_inputs_to_float,
        fold_constants,
        narrow_constants,
        drop_zeros,
        complex_to_pairs,
        assignments_to_gather,
        decompose_rare_ops,
        sums_to_norms,
        scaled_powers,
        fuse_norms,
        instance_to_group_norm,
        split_recurrent.split_recurrent,
        functools.partial(input_masks, inputs=example_inputs),
        additive_masks,
        decompose_attention.decompose_attention,
        fold_constants,  # of learned queries: their attention to each other is constant
        mask_softmax,
        replace_mask_sentinels,
        drop_noop_clamps,
        products_to_linear,
        split_layers,
        fold_scales,
        *(() if trains else (fold_normalisation, fold_channel_order)),
        crops_to_padding,
        fuse_batch_norm,
        name_masks,
        drop_pool_indices,
        pools_to_2d,
        drop_expands,
        one_to_two_dimensions,
        three_to_two_dimensions,
        average_to_mean,
        hoist_clamps,
        separate_weights,
    ):
        rewrite(module)
        drop_dead_code(module.graph)
    _keep_computed(module)
    paths = result_paths(program)
    module.meta["paths"] = [paths[position] for position in module.meta["computed"]]
    _drop_unused_constants(module)
    mark_materialized(module)
    module.graph.lint()
    module.recompile()
    return module


def decompose(program: ExportedProgram, keeps: Iterable[Any] = ()) -> ExportedProgram:
    """Return the program, decomposed into the ops that rules support."""
    kept = (
        *KEPT,
        *parts_to_cat.KEPT,
        *decompose_attention.KEPT,
        *split_recurrent.KEPT,
        *binary_ops.KEPT,
        *resampling.KEPT,
        *keeps,
    )
    with split_recurrent.steps_unseen():
        try:
            return make_functional(free_names(program), kept)
        except PendingUnbackedSymbolNotFound:
            check_shapes(program)  # reports the place
            raise


def _raised_by(
    model: torch.nn.Module, example_inputs: tuple[torch.Tensor, ...]
) -> Exception | None:
    """Return the error that the model raises without export; None if it runs."""
    try:
        with torch.no_grad():
            model(*example_inputs)
    except Exception as error:
        return error
    return None


def _export(model: torch.nn.Module, example_inputs: tuple[torch.Tensor, ...]) -> ExportedProgram:
    try:
        with (
            warnings.catch_warnings(),
            assignments_kept(model),
            hooked_weights_kept(model),
            causal_masks_unread(),
            export_silent(),
            ConstantValues(model),
            DataAttributeMode(),
            split_recurrent.steps_unseen(),
        ):
            # The tensor is no buffer and forward replaces it: export would keep the old one.
            warnings.filterwarnings("error", message=".*was assigned during export")
            # Torch's own recurrent layers cause this warning; it is harmless.
            warnings.filterwarnings(
                "ignore", message=".*_flat_weights.*were assigned during export"
            )
            return torch.export.export(model, example_inputs)
    except LoweringError:
        raise
    except Exception as error:
        own = _raised_by(model, example_inputs)
        is_of_gradient = own is not None and takes_gradient(own)
        what, hint = trace_error(own if own is not None and is_of_gradient else error)
        if own is not None and not is_of_gradient:
            said = [*str(own).strip().splitlines(), ""][0]
            what = f"the model does not run on its first sample: {type(own).__name__}: {said}"
            hint = as_it_takes(own, example_inputs)
        line = raising_line(error)
        where = place(raising_module(error, model), line)
        at = f"\n    at {where}" if where else ""
        raise LoweringError(f"{what}{at}\n    instead: {hint}") from error


def _take_tensors_alone(module: GraphModule, names: Sequence[str], keeps_results: bool) -> None:
    """Remove the argument structure and the constant inputs of a program.

    The structure of its results is removed too, except for a training loop; the loop knows it.
    """
    given = module.graph._codegen
    for node in list(module.graph.nodes):
        if node.op == "placeholder" and node.target not in names:
            module.graph.erase_node(node)
    take_tensors(module)
    if keeps_results and isinstance(given, PyTreeCodeGen):
        flat = tree_structure(((0,) * len(names), {}))
        results = given.pytree_info.out_spec
        module.graph.set_codegen(PyTreeCodeGen(PyTreeInfo([*names], flat, results)))
    module.recompile()


def _forget_writes_to_inputs(program: ExportedProgram) -> None:
    """Drop results of in-place ops on the model's inputs: nothing reads them.

    The program is functional: later ops read the result itself.
    """
    signature = program.graph_signature
    output = program.graph.output_node()
    kept = [
        (value, spec)
        for value, spec in zip(output.args[0], signature.output_specs, strict=True)
        if spec.kind is not OutputKind.USER_INPUT_MUTATION
    ]
    output.args = (tuple(value for value, _ in kept),)
    signature.output_specs = [spec for _, spec in kept]


def _keep_computed(module: GraphModule) -> None:
    """Keep only outputs that the model computes or copies.

    None, numbers, texts and constants need no device.
    """
    _copy_inputs(module)
    results, states = returned(module)
    values = tree_leaves(results)
    kept = [i for i, v in enumerate(values) if isinstance(v, Node) and v.op != "get_attr"]
    if not kept:
        raise LoweringError("the model returns no computed tensor. Return at least one.")
    for position in kept:
        value = values[position]
        if value.op != "call_function":
            kind, name = "input", value.target
            if "state" in value.meta:
                kind, name = "state", state_of(value).name
            raise LoweringError(
                f"output {position} of the model is its {kind} `{name}`, unchanged. Return "
                "tensors that the model computes."
            )
    module.meta["computed"] = kept
    if len(kept) < len(values):
        module.graph.output_node().args = ((*(values[i] for i in kept), *states),)
        take_tensors(module)


def _copy_inputs(module: GraphModule) -> None:
    """Copy outputs that are inputs passed through: float32 inputs, or inputs cast to float32."""
    results, states = returned(module)
    copies: dict[Node, Node] = {}
    with module.graph.inserting_before(module.graph.output_node()):
        for value in tree_leaves(results):
            if not isinstance(value, Node) or "state" in value.meta:
                continue
            if value.op != "placeholder" and not is_given(value):
                continue
            if value.meta["val"].dtype == torch.float32 and value not in copies:
                shape = list(value.meta["val"].shape)
                copies[value] = call(value, _aten.view.default, value, shape)
    results = map_arg(results, lambda n: copies.get(n, n))
    module.graph.output_node().args = ((*results, *states) if states else results,)


def _drop_unused_constants(module: GraphModule) -> None:
    for node in list(module.graph.nodes):
        if node.op == "get_attr" and not node.users:
            module.graph.erase_node(node)
