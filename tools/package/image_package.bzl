# SPDX-License-Identifier: Apache-2.0
"""The package of an image: its models as C for every other build system."""

load("//aot/plan:c_name.bzl", "c_name")
load("//tools:actions.bzl", "run_action")
load("//tools/platforms:cores.bzl", "CORES", "core_flags")

_FLAGS_BY_CORE = json.encode({core: core_flags(core) for core in CORES})

def _group(target, name):
    return getattr(target[OutputGroupInfo], name).to_list()

def _image_package_impl(ctx):
    image = ctx.attr.image
    output = ctx.actions.declare_file(image.label.name + ".package.zip")
    board, link_map = [_group(image, part)[0] for part in ["board", "map"]]
    plan, vectors, sources = [_group(image, part) for part in ["plan_json", "vectors", "sources"]]
    lowered = _group(image, "lowered")
    if not plan or len(plan) != len(vectors):
        fail(("%s: a package has models with their plans: name the plan of each pte_model in `plan`, and nothing but " +
              "these pte_models in `models`; check_image makes such an image of any pte_model") % image.label)
    arguments = ctx.actions.args()
    arguments.add(board, format = "--board=%s")
    arguments.add(_FLAGS_BY_CORE, format = "--flags_by_core=%s")
    arguments.add(link_map, format = "--map=%s")
    arguments.add(c_name(image.label.name) or c_name("image_%s_" % image.label.name), format = "--name=%s")
    arguments.add_all(plan, format_each = "--plan=%s")
    arguments.add_all(lowered, format_each = "--pte=%s")
    arguments.add_all(vectors, format_each = "--vectors=%s")
    arguments.add(ctx.file._license, format = "--license=%s")
    arguments.add(output, format = "--output=%s")
    arguments.add_all(sources)
    arguments.use_param_file("--flagfile=%s")
    arguments.set_param_file_format("multiline")
    run_action(
        ctx,
        executable = ctx.executable._make_package,
        arguments = [arguments],
        inputs = [board, link_map, ctx.file._license] + plan + lowered + vectors + sources,
        outputs = [output],
        mnemonic = "ImagePackage",
        progress_message = "Packing the models of %s" % image.label,
    )
    return [DefaultInfo(files = depset([output]))]

image_package = rule(
    implementation = _image_package_impl,
    doc = "A zip with the models of a firmware_image, for builds without Bazel.",
    attrs = {
        "image": attr.label(mandatory = True, doc = "A firmware_image with plans."),
        "_license": attr.label(default = "//:LICENSE", allow_single_file = True),
        "_make_package": attr.label(
            default = "//tools/package:make_package",
            executable = True,
            cfg = "exec",
        ),
    },
)
