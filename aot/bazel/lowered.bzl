# SPDX-License-Identifier: Apache-2.0
"""Result of a pte_model, and selection of its part for a board."""

LoweredInfo = provider(
    "A lowered model.",
    fields = {
        "by_engine": "Dict: what is for boards with an engine, by its configuration.",
        "default": "What is for all others: a struct of the Files `program` (the .pte, decoded), `pte`, `report` " +
                   "and `vectors`.",
        "optimize": "What plans of it are for if neither they nor their image say it, or \"\".",
    },
)

def lowered_for(info, board):
    """Selects the value for a board.

    Args:
      info: LoweredInfo, or any provider with `by_engine` and `default`.
      board: BoardInfo.

    Returns:
      One of the two's values.
    """
    for configuration in board.engines:
        if configuration in info.by_engine:
            return info.by_engine[configuration]
    return info.default

def _file(target, ending):
    return [file for file in target[DefaultInfo].files.to_list() if file.path.endswith(ending)][0]

def _files(target):
    return struct(
        program = _file(target, ".program"),
        pte = _file(target, ".pte"),
        report = _file(target, ".report.json"),
        vectors = _file(target, ".vectors.npz"),
    )

def _lowered_impl(ctx):
    default = _files(ctx.attr.default)
    by_engine = {
        configuration: _files(target)
        for target, configuration in ctx.attr.by_engine.items()
    }
    return [
        DefaultInfo(files = depset([default.pte])),
        LoweredInfo(by_engine = by_engine, default = default, optimize = ctx.attr.optimize),
    ]

def _lowered_report_impl(ctx):
    info = ctx.attr.model[LoweredInfo]
    files = info.by_engine.get(ctx.attr.configuration, info.default)
    return [DefaultInfo(files = depset([files.report]))]

lowered_report = rule(
    implementation = _lowered_report_impl,
    doc = "The report of a model as lowered for boards with an engine's configuration, or \"\" for those without.",
    attrs = {
        "configuration": attr.string(),
        "model": attr.label(mandatory = True, providers = [LoweredInfo]),
    },
)

lowered = rule(
    implementation = _lowered_impl,
    doc = "A model as lowered for each of its targets; files: the .pte of the default one.",
    attrs = {
        "by_engine": attr.label_keyed_string_dict(),
        "default": attr.label(mandatory = True),
        "optimize": attr.string(values = ["", "memory", "size", "speed"]),
    },
    provides = [LoweredInfo],
)
