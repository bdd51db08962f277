# SPDX-License-Identifier: Apache-2.0
"""Model packages, and the firmware side that accepts them: model_package, slot_kernels."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//aot/bazel:lowered.bzl", "LoweredInfo")
load("//aot/plan:c_name.bzl", "c_name", "plan_header")
load("//aot/plan:plan_library.bzl", "decode_pte")
load("//boards:board_rule.bzl", "BoardInfo")
load("//boards:board_transition.bzl", "board_transition", "no_board_transition")
load("//tools:actions.bzl", "run_action")

_PlanInfo = provider(
    "A model's plan as a package has it.",
    fields = {
        "board": "File: board.json.",
        "json": "File: plan.json.",
        "object": "File: its C, compiled.",
    },
)

def _slot_plan_impl(ctx):
    name = ctx.label.name
    source = ctx.actions.declare_file(name + ".c")
    description = ctx.actions.declare_file(name + ".json")
    board = ctx.attr._board[BoardInfo].json
    optimize = (ctx.attr.optimize or ctx.attr._of_the_image[BuildSettingInfo].value or "speed")
    arguments = ctx.actions.args()
    arguments.add(ctx.file.program, format = "--program=%s")
    arguments.add(board, format = "--board=%s")
    arguments.add(ctx.attr.arena, format = "--arena=%s")
    arguments.add(optimize, format = "--optimize=%s")
    arguments.add(source, format = "--source=%s")
    arguments.add(description, format = "--json=%s")
    run_action(
        ctx,
        executable = ctx.executable._planner,
        arguments = [arguments],
        inputs = [ctx.file.program, board],
        outputs = [source, description],
        mnemonic = "SlotPlan",
        progress_message = "Planning %{label} for a package",
    )
    toolchain = find_cc_toolchain(ctx)
    _, compiled = cc_common.compile(
        actions = ctx.actions,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        cc_toolchain = toolchain,
        name = name,
        srcs = [source],
        compilation_contexts = [dep[CcInfo].compilation_context for dep in ctx.attr._deps],
    )
    return [
        DefaultInfo(files = depset([description])),
        _PlanInfo(
            board = board,
            json = description,
            # Compilers of the host may make position-independent code alone.
            object = (compiled.objects or compiled.pic_objects)[0],
        ),
    ]

_slot_plan = rule(
    implementation = _slot_plan_impl,
    attrs = {
        "arena": attr.int(mandatory = True),
        "optimize": attr.string(values = ["", "memory", "size", "speed"]),
        "program": attr.label(allow_single_file = True, mandatory = True),
        "_board": attr.label(default = "//boards:current", providers = [BoardInfo]),
        "_deps": attr.label_list(
            default = ["//firmware/runtime:plan", "//kernels"],
            providers = [CcInfo],
        ),
        "_of_the_image": attr.label(default = "//tools/platforms:optimize"),
        "_planner": attr.label(
            default = "//aot/slot:plan_main",
            executable = True,
            cfg = "exec",
        ),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)

def _model_package_impl(ctx):
    plan = ctx.attr.plan[_PlanInfo]
    vectors = ctx.file.vectors
    if LoweredInfo in ctx.attr.vectors[0]:
        vectors = ctx.attr.vectors[0][LoweredInfo].default.vectors
    output = ctx.actions.declare_file(ctx.label.name + ".plpk")
    arguments = ctx.actions.args()
    arguments.add(plan.object, format = "--object=%s")
    arguments.add(plan.json, format = "--plan=%s")
    arguments.add(plan.board, format = "--board=%s")
    arguments.add(vectors, format = "--vectors=%s")
    arguments.add(ctx.attr.limit, format = "--limit=%s")
    arguments.add(ctx.file.key, format = "--key=%s")
    arguments.add(ctx.attr.model_name, format = "--name=%s")
    arguments.add(ctx.attr.version, format = "--version=%s")
    arguments.add(output, format = "--output=%s")
    run_action(
        ctx,
        executable = ctx.executable._pack,
        arguments = [arguments],
        inputs = [plan.object, plan.json, plan.board, vectors, ctx.file.key],
        outputs = [output],
        mnemonic = "ModelPackage",
        progress_message = "Signing %{label}",
    )
    return [
        DefaultInfo(files = depset([output])),
        OutputGroupInfo(
            board = depset([plan.board]),
            json = depset([plan.json]),
            object = depset([plan.object]),
        ),
    ]

_ATTRS = {
    "key": attr.label(allow_single_file = [".pem"], mandatory = True),
    "limit": attr.int(default = 2),
    "model_name": attr.string(mandatory = True),
    "plan": attr.label(mandatory = True, providers = [_PlanInfo]),
    "vectors": attr.label(
        allow_single_file = [".npz", ".pte"],
        cfg = no_board_transition,
        mandatory = True,
    ),
    "version": attr.string(mandatory = True),
    "_allowlist_function_transition": attr.label(
        default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
    ),
    "_pack": attr.label(default = "//aot/slot:pack", executable = True, cfg = "exec"),
}

# For the current configuration's board, and for a given one.
_package_here = rule(implementation = _model_package_impl, attrs = _ATTRS)
_package_for_board = rule(
    implementation = _model_package_impl,
    attrs = _ATTRS | {
        "board": attr.label(mandatory = True, providers = [BoardInfo]),
        "optimize": attr.string(values = ["", "memory", "size", "speed"]),
    },
    cfg = board_transition,
)

def _name_of(model):
    """The name of a model in packages: of its label, without .pte."""
    return native.package_relative_label(model).name.removesuffix(".pte")

def model_package(name, model, key, version, arena, board = None, model_name = None, vectors = None, limit = 2, optimize = "", **kwargs):
    """Makes a signed package of a model, `<name>.plpk`, for firmware with a slot (docs/updates.md).

    Args:
      name: name of the target.
      model: label of a pte_model or a .pte.
      key: label of a PEM file with a private Ed25519 key, without a password.
      version: version such as "1.2.3". Firmware accepts newer ones only.
      arena: limit of the arena in bytes.
      board: label of the board. The default is the board of the configuration.
      model_name: name in the package. A slot accepts one name only. The default is the name of
        `model`.
      vectors: an .npz with inputs and outputs for the self-test, like that of check_app. The default
        is the model's.
      limit: number of vectors.
      optimize: like that of plan_library.
      **kwargs: tags, testonly, visibility.
    """
    decode_pte(name = name + ".program", pte = model, **kwargs)

    # Packages are for boards. Targets that depend on them build them there, and none is built for
    # the host.
    by_request = kwargs | {"tags": (kwargs.get("tags") or []) + ["manual"]}
    _slot_plan(
        name = name + ".plan",
        arena = arena,
        optimize = optimize,
        program = name + ".program",
        **by_request
    )
    common = {
        "name": name,
        "key": key,
        "limit": limit,
        "model_name": model_name or _name_of(model),
        "plan": name + ".plan",
        "vectors": vectors or model,
        "version": version,
    }
    if board:
        _package_for_board(board = board, optimize = optimize, **(common | kwargs))
    else:
        _package_here(**(common | by_request))

def _table_impl(ctx):
    name = c_name(ctx.label.name.removesuffix(".table"))
    source = ctx.actions.declare_file(name + ".table.c")
    header = ctx.actions.declare_file(name + ".h")
    arguments = ctx.actions.args()
    board = ctx.attr._board[BoardInfo].json
    arguments.add(board, format = "--board=%s")
    arguments.add(name, format = "--name=%s")
    arguments.add(source, format = "--source=%s")
    arguments.add(header, format = "--header=%s")
    arguments.add(plan_header(ctx.label.package, name), format = "--include=%s")
    arguments.add_all(ctx.attr.kernels, format_each = "--kernel=%s")
    plans = []
    for plan, model in ctx.attr.plans.items():
        arguments.add(plan[_PlanInfo].json, format = model + "=%s")
        plans.append(plan[_PlanInfo].json)
    run_action(
        ctx,
        executable = ctx.executable._generator,
        arguments = [arguments],
        inputs = [board] + plans,
        outputs = [source, header],
        mnemonic = "KernelTable",
        progress_message = "Writing the kernels of %{label}",
    )
    return [
        DefaultInfo(files = depset([source])),
        OutputGroupInfo(header = depset([header])),
    ]

_table = rule(
    implementation = _table_impl,
    attrs = {
        "kernels": attr.string_list(),
        "plans": attr.label_keyed_string_dict(providers = [_PlanInfo]),
        "_board": attr.label(default = "//boards:current", providers = [BoardInfo]),
        "_generator": attr.label(
            default = "//aot/slot:kernel_table_main",
            executable = True,
            cfg = "exec",
        ),
    },
)

def slot_kernels(name, models = [], kernels = [], arena = 1 << 20, optimize = "", **kwargs):
    """Makes a library with the kernels for packages: `const pl_slot_kernels <name>` in `<name>.h`.

    The header has `<NAME>_MODEL_<MODEL>` for each model, the value of pl_slot_config.model.

    Args:
      name: name of the library and of the table in C.
      models: labels of pte_models or .pte files. All kernels of their plans are included.
      kernels: names of more C functions, such as "pl_softmax_s8", for future models.
      arena: limit of the models' arenas in bytes, as for their packages.
      optimize: like that of plan_library, and equal to that of the packages.
      **kwargs: tags, testonly, visibility.
    """
    plans = {}
    for index, model in enumerate(models):
        if _name_of(model) in plans.values():
            fail("slot_kernels %s: two models have the name %s" % (name, _name_of(model)))
        plan = "%s.plan_%d" % (name, index)
        decode_pte(name = plan + ".program", pte = model, **kwargs)
        _slot_plan(
            name = plan,
            arena = arena,
            optimize = optimize,
            program = plan + ".program",
            **kwargs
        )
        plans[plan] = _name_of(model)
    _table(
        name = name + ".table",
        kernels = kernels,
        plans = plans,
        **kwargs
    )
    native.filegroup(
        name = name + ".header",
        srcs = [name + ".table"],
        output_group = "header",
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".table"],
        hdrs = [name + ".header"],
        copts = ["-Os"],
        deps = [
            Label("//firmware/slot"),
            Label("//kernels"),
        ],
        **kwargs
    )
