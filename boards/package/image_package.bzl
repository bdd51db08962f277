# SPDX-License-Identifier: Apache-2.0
"""The package of an image: its model as C for every other build system."""

load("//tools/platforms:cores.bzl", "CORES", "core_flags")

_FLAGS_BY_CORE = json.encode({core: core_flags(core) for core in CORES})

def _group(target, name):
    return getattr(target[OutputGroupInfo], name).to_list()

def _image_package_impl(ctx):
    image = ctx.attr.image
    output = ctx.actions.declare_file(image.label.name + ".package.zip")
    board, size, link_map = [_group(image, part)[0] for part in ["board", "size_json", "map"]]
    plan, vectors, sources = [_group(image, part) for part in ["plan_json", "vectors", "sources"]]
    if len(plan) != 1 or len(vectors) != 1:
        fail(("%s: a package has one model: that of an image with a `plan`, and with the plan's pte_model " +
              "alone among its `models`; check_image makes one of any pte_model") % image.label)
    arguments = ctx.actions.args()
    arguments.add(board, format = "--board=%s")
    arguments.add(_FLAGS_BY_CORE, format = "--flags_by_core=%s")
    arguments.add(link_map, format = "--map=%s")
    arguments.add(plan[0], format = "--plan=%s")
    arguments.add(vectors[0], format = "--vectors=%s")
    arguments.add(ctx.file._license, format = "--license=%s")
    arguments.add(output, format = "--output=%s")
    arguments.add_all(sources)
    arguments.use_param_file("--flagfile=%s")
    arguments.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._make_package,
        arguments = [arguments],
        inputs = [board, size, link_map, ctx.file._license] + plan + vectors + sources,
        outputs = [output],
        mnemonic = "ImagePackage",
        progress_message = "Packing the model of %s" % image.label,
    )
    return [DefaultInfo(files = depset([output]))]

image_package = rule(
    implementation = _image_package_impl,
    doc = "A zip with the model of a firmware_image, for builds without Bazel.",
    attrs = {
        "image": attr.label(mandatory = True, doc = "A firmware_image with a plan."),
        "_license": attr.label(default = "//:LICENSE", allow_single_file = True),
        "_make_package": attr.label(
            default = "//boards/package:make_package",
            executable = True,
            cfg = "exec",
        ),
    },
)
