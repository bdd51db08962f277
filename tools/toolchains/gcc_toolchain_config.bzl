# SPDX-License-Identifier: Apache-2.0
"""GCC's command lines, for the host and for Cortex-M. Same input, same bytes."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load(
    "@rules_cc//cc:cc_toolchain_config_lib.bzl",
    "action_config",
    "feature",
    "flag_group",
    "flag_set",
    "tool",
    "with_feature_set",
)
load(":compile_flags.bzl", "COMPILE_FLAGS", "C_FLAGS")

_C = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.preprocess_assemble,
    ACTION_NAMES.c_compile,
]

_CXX = [ACTION_NAMES.cpp_compile]

_COMPILE = _C + _CXX

_LINK = [
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]

# C++ without features needing a library: no exceptions, no run-time types, and no locks around
# function-local variables.
_CXX_FLAGS = [
    "-std=c++17",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
]

# The output must not depend on the time or on a folder of this machine. Bazel compiles in a folder
# shown as /proc/self/cwd.
_DETERMINISTIC_FLAGS = [
    "-no-canonical-prefixes",
    "-fno-canonical-system-headers",
    "-ffile-prefix-map=/proc/self/cwd=.",
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="redacted"',
    '-D__TIME__="redacted"',
    '-D__TIMESTAMP__="redacted"',
]

_STRICT_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wconversion",
    "-Wshadow",
    "-Wvla",
]

_STRICT_WARNINGS_OF_C = [
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
]

# Any finding ends the program.
_SANITIZERS = [
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]

def _flags(actions, flags, with_features = []):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)] if flags else [],
        with_features = with_features,
    )

def _features(compile_flags, link_flags, pic):
    debug = with_feature_set(features = ["dbg"])
    release = with_feature_set(not_features = ["dbg"])
    return [
        feature(name = "fastbuild"),
        feature(name = "opt"),
        feature(name = "dbg"),
        feature(name = "supports_pic", enabled = pic),
        # Part of Bazel's `--strip`. Debug symbols would be removed by default, but GDB and fault
        # traces need lines.
        feature(name = "strip_debug_symbols"),
        feature(
            name = "default_compile_flags",
            enabled = True,
            flag_sets = [
                _flags(_C, C_FLAGS),
                _flags(_CXX, _CXX_FLAGS),
                _flags(_COMPILE, COMPILE_FLAGS + compile_flags),
                _flags(_COMPILE, ["-O2"], [release]),
                _flags(_COMPILE, ["-Og"], [debug]),
            ],
        ),
        feature(
            name = "strict_warnings",
            flag_sets = [
                _flags([ACTION_NAMES.c_compile] + _CXX, _STRICT_WARNINGS),
                _flags([ACTION_NAMES.c_compile], _STRICT_WARNINGS_OF_C),
            ],
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [_flags(
                _LINK,
                ["-no-canonical-prefixes", "-Wl,--gc-sections"] + link_flags,
            )],
        ),
        feature(
            name = "archiver_flags",
            enabled = True,
            flag_sets = [flag_set(
                actions = [ACTION_NAMES.cpp_link_static_library],
                flag_groups = [
                    flag_group(flags = ["rcsD", "%{output_execpath}"]),
                    flag_group(
                        iterate_over = "libraries_to_link",
                        flag_groups = [flag_group(flags = ["%{libraries_to_link.name}"])],
                    ),
                ],
            )],
        ),
        # The name is that of Bazel's own feature; it comes last on the command line.
        feature(
            name = "unfiltered_compile_flags",
            enabled = True,
            flag_sets = [_flags(_COMPILE, _DETERMINISTIC_FLAGS)],
        ),
    ]

def _gcc_toolchain_config_impl(ctx):
    tools = {name: tool(path = path) for name, path in ctx.attr.tool_paths.items()}
    for target, name in ctx.attr.tools.items():
        tools[name] = tool(tool = target[DefaultInfo].files.to_list()[0])
    actions = {action: "gcc" for action in _COMPILE + _LINK}
    actions[ACTION_NAMES.cpp_link_static_library] = "ar"
    actions[ACTION_NAMES.strip] = "strip"
    sanitizers = _SANITIZERS if ctx.attr.sanitizers else []
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = ctx.label.name,
        compiler = "gcc",
        target_cpu = ctx.attr.target_cpu,
        target_system_name = ctx.attr.target_cpu,
        target_libc = "unknown",
        cxx_builtin_include_directories = ctx.attr.builtin_include_directories,
        action_configs = [
            action_config(action_name = action, enabled = True, tools = [tools[name]])
            for action, name in actions.items()
        ],
        features = _features(
            ctx.attr.compile_flags + sanitizers,
            ctx.attr.link_flags + sanitizers[:1],
            ctx.attr.pic,
        ),
    )

gcc_toolchain_config = rule(
    implementation = _gcc_toolchain_config_impl,
    attrs = {
        "builtin_include_directories": attr.string_list(
            doc = "Folders of the compiler's headers outside of the workspace.",
        ),
        "compile_flags": attr.string_list(),
        "link_flags": attr.string_list(),
        "pic": attr.bool(doc = "Shared libraries and position independent code are possible."),
        "sanitizers": attr.bool(
            doc = "Address and undefined behaviour sanitizers in every program.",
        ),
        "target_cpu": attr.string(mandatory = True),
        "tool_paths": attr.string_dict(doc = "`gcc`, `ar`, `strip`: absolute path of each."),
        "tools": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Or their labels.",
        ),
    },
    provides = [CcToolchainConfigInfo],
)
