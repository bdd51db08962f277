# SPDX-License-Identifier: Apache-2.0
"""kernel_library: C kernels, each in the variant for the target core."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/toolchains:compile_flags.bzl", "HELIUM_FLAGS", "KERNEL_FLAGS", "NO_HELIUM_FLAGS")

def kernel_library(
        name,
        srcs = [],
        variants = {},
        only = {},
        small = {},
        float_vectors = [],
        **kwargs):
    """Create a cc_library with some sources chosen by the core's instruction class.

    Makes `<name>.files` too, its sources for a core without DSP extension.

    Args:
      name: of the library.
      srcs: sources for every core.
      variants: base name of a source -> the classes ("thumb1", "dsp", "mve") with a variant of
        their own. {"x_s8": ["mve"]} is x_s8_mve.c for cores with Helium and x_s8_scalar.c
        for all others.
      only: base name of a source -> its only classes. Its functions are called only on
        them. {"x_by_4_s8": ["dsp"]} is x_by_4_s8_dsp.c for cores with DSP extension and no
        Helium.
      small: base name of a source -> the classes with the `_scalar` form in size-optimized
        images. Use it if that form takes less code and has the same constant packing.
      float_vectors: base names of the sources with float32 vectors in their `_mve` form.
        Cores with integer-only Helium use the `_scalar` form.
      **kwargs: as for cc_library.
    """
    native.filegroup(
        name = name + ".files",
        srcs = srcs + _sources("scalar", variants, only) + kwargs.get("hdrs", []),
        visibility = [Label("//kernels:__subpackages__")],
    )
    chosen = {
        isa: [
            _taken(name, src, isa, small, float_vectors)
            for src in _sources(isa, variants, only)
        ]
        for isa in ["scalar", "thumb1", "dsp", "mve"]
    }
    helium = [src for src in chosen["mve"] if _is_helium(src)]
    plain = name + (".plain" if helium else "")
    cc_library(
        name = plain,
        srcs = srcs + select({
            Label("//tools/platforms:isa_dsp"): chosen["dsp"],
            Label("//tools/platforms:isa_mve"): [src for src in chosen["mve"] if not _is_helium(src)],
            Label("//tools/platforms:isa_thumb1"): chosen["thumb1"],
            "//conditions:default": chosen["scalar"],
        }),
        copts = KERNEL_FLAGS + NO_HELIUM_FLAGS,
        **kwargs
    )
    if helium:
        cc_library(
            name = name,
            srcs = [src for src in srcs if src.endswith(".h")] + select({
                Label("//tools/platforms:isa_mve"): helium,
                "//conditions:default": [],
            }),
            copts = KERNEL_FLAGS + HELIUM_FLAGS,
            **(kwargs | {"deps": kwargs.get("deps", []) + [":" + plain]})
        )

def _sources(isa, variants, only):
    """Returns those of a class."""
    sources = []
    for base, classes in variants.items():
        form = isa if isa in classes else "scalar"
        if isa == "mve" and isa not in classes and "dsp" in classes:
            form = "dsp"  # cores with Helium have the DSP extension
        sources.append("%s_%s.c" % (base, form))
    return sources + ["%s_%s.c" % (base, isa) for base, classes in only.items() if isa in classes]

def _taken(name, source, isa, small, float_vectors):
    """Return a source, or a target with its `_scalar` form in some images, with the same flags."""
    base = source.removesuffix("_%s.c" % isa)
    settings = []
    if isa in small.get(base, []):
        settings.append(Label("//tools/platforms:small"))
    if isa == "mve" and base in float_vectors:
        settings.append(Label("//tools/platforms:mve_of_integers"))
    if not settings:
        return source
    target = "%s.%s.%s" % (name, base, isa)
    native.filegroup(
        name = target,
        srcs = select(
            {setting: [base + "_scalar.c"] for setting in settings} |
            {"//conditions:default": [source]},
        ),
    )
    return ":" + target

def _is_helium(source):
    return source.endswith("_mve.c") or source.endswith(".mve")
