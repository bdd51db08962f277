# SPDX-License-Identifier: Apache-2.0
"""Images of this package."""

# Networks for the comparison of speed, memory and rows, and their models.
NETWORKS = {
    "causal": ":causal",
    "ds_cnn": "//aot/models/ds_cnn",
    "efficientnet": ":efficientnet",
    "mobilenet_v2": ":mobilenet_v2",
    "mobilenet_v3": ":mobilenet_v3",
    "person": ":person",
    "person_of_144": ":person_of_144",
    "resnet8": "//aot/models/resnet8",
    "unet": ":unet",
    "vww": "//aot/models/mobilenet_v1",
}

# Plan of each kind: kind, optimization target, row-by-row input.
KINDS = [
    ("memory", "memory", False),
    ("size", "size", False),
    ("speed", "speed", False),
    ("streamed", "memory", True),
]

_ON_NRF52 = ["person_size", "vww_memory", "vww_speed", "vww_streamed"]

# Boards smaller than Corstone-300: network and kind, board. nrf52dk has no simulator.
ON_SMALL_BOARDS = [
    ("causal_streamed", "microbit"),
    ("ds_cnn_streamed", "microbit"),
    ("efficientnet_memory", "mps2_an385"),
    ("mobilenet_v2_memory", "mps2_an385"),
    ("mobilenet_v3_memory", "mps2_an385"),
    ("person_of_144_memory", "mps2_an385"),
    ("resnet8_streamed", "lm3s6965evb"),
    ("unet_memory", "olimex_stm32_h405"),
    ("vww_streamed", "mps2_an385"),
] + [(image, "as_nrf52832") for image in _ON_NRF52]

NOT_SIMULATED = [(image, "nrf52dk") for image in _ON_NRF52]

# Networks of shapes.py, and their input functions in shape_inputs.py.
SHAPES = {
    "aspp": "images_of_48",
    "densenet": "images_of_48",
    "efficientnet_lite": "images_of_48",
    "inception": "images_of_48",
    "mobilenet_v3_large": "images_of_48",
    "pan": "images_of_48",
    "segmenter": "images_of_48",
    "shufflenet": "images_of_48",
    "transposed_unet": "images_of_48",
}

# And those of other_shapes.py.
OTHER_SHAPES = {
    "crnn": "lines_of_text",
    "middle": "channels_last_of_48",
    "odd": "odd_images",
    "pair_of_images": "pairs_of_32",
    "siamese": "two_images",
    "stream": "images_of_48",
    "strided_1d": "pairs_of_sequences",
    "tcn": "sequences",
    "wide": "images_of_48",
    "wide_parts": "images_of_48",
}

# Plan kinds and boards.
SHAPE_KINDS = ["memory", "speed"]
SHAPE_BOARDS = ["corstone300", "mps2_an385", "mps2_an386"]

SHAPE_IMAGES = [
    "%s_%s.%s" % (name, kind, board)
    for name in sorted(SHAPES | OTHER_SHAPES)
    for kind in SHAPE_KINDS
    for board in SHAPE_BOARDS
]

COUNTED_IMAGES = [
    "%s_%s" % (name, kind)
    for name in NETWORKS
    for kind, _, _ in KINDS
] + ["%s.%s" % pair for pair in ON_SMALL_BOARDS] + SHAPE_IMAGES

SIZED_IMAGES = ["%s.%s" % pair for pair in NOT_SIMULATED]
