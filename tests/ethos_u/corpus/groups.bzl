# SPDX-License-Identifier: Apache-2.0
"""The archives of the corpus."""

# Groups of graphs.GROUPS, each with its graphs of every test run. They are the slice that runs on a
# board (image/BUILD.bazel), and graphs with another traversal, format or known Vela bug. ExecuTorch
# takes two seconds to lower one. The nightly test has all.
GROUPS = {
    "convolutions": [
        "conv3x3_deep",
        "conv3x3_dilated",
        "conv3x3_rgb",
        "conv9x9",
        "conv_sigmoid",
        "conv_transpose",
        "depthwise_relu6_wide",
    ],
    "elementwise": [
        "add_unequal_scales",
        "mul_broadcast",
        "sub_broadcast",
    ],
    "functions": [
        "sigmoid",
        "softmax",
    ],
    "int16": [
        "int16_add_unequal",
        "int16_conv3x3",
        "int16_tanh",
    ],
    "layout": [
        "cat_channels",
        "permute",
        "slice",
    ],
    "linear": [
        "bmm",
        "linear_wide",
    ],
    "networks": [
        "residual_net",
        "self_attention",
        "unet",
    ],
    "norms": ["layer_norm"],
    "pools": [
        "amax",
        "avg_pool3x3_padded",
        "max_pool3x3",
    ],
    "sparse": [
        "conv3x3_pruned",
        "linear_pruned",
        "linear_zero",
    ],
}

# Targets of every test run, accelerator/memory mode: the smallest and the largest U55, the one of
# our board, the largest U65, and two U85, with one and four weight streams. The nightly test has all pairs of targets.py.
TARGETS = [
    "ethos-u55-32/Shared_Sram",
    "ethos-u55-128/Shared_Sram",
    "ethos-u55-256/Sram_Only",
    "ethos-u65-512/Dedicated_Sram_384KB",
    "ethos-u85-256/Sram_Only",
    "ethos-u85-1024/Dedicated_Sram",
]

# Large networks, for effects most visible there: rolling buffers, two cores.
LARGE = [
    "mobilenet_v2_192",
    "mobilenet_v2_96",
]

def archives(groups):
    """Labels of the archives of some groups."""
    return ["//tests/ethos_u/corpus:%s.zip" % group for group in groups]
