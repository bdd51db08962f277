# SPDX-License-Identifier: Apache-2.0
"""The boards of this folder, each in one list; boards/tests/test_lists.py checks the lists."""

# The build machine, with sanitizers.
HOST = "//boards/host"

# Simulated boards, one for each core. Code that depends only on the core, such as kernels, is
# tested here.
ONE_PER_CORE = [
    "//boards/corstone300",
    "//boards/mps2_an385",
    "//boards/mps2_an386",
    "//boards/mps2_an500",
    "//boards/mps2_an505",
    "//boards/microbit",
]

# All simulated boards. Start-up, memories and console are tested here, and a complete run from
# model to image.
SIMULATED = ONE_PER_CORE + [
    "//boards/b_l475e_iot01a",
    "//boards/lm3s6965evb",
    "//boards/max78000fthr",
    "//boards/mps3_an524",
    "//boards/musca_a",
    "//boards/musca_b1",
    "//boards/netduinoplus2",
    "//boards/olimex_stm32_h405",
    "//boards/stm32vldiscovery",
]

# Boards of SIMULATED once more, where delegates run on the NPU: models on it are tested here.
WITH_NPU = ["//boards/corstone300_ethos_u55"]

# The same boards with other NPUs. Models lowered for those are tested.
OTHER_NPUS = [
    "//boards/corstone300_ethos_u55_256",
    "//boards/corstone300_ethos_u65",
    "//boards/corstone300_ethos_u85",
]

# Boards with no other simulator than Arm's model, which is not available here. Images are built
# manually.
ONLY_FVP = ["//boards/corstone320"]

# Boards without a simulator. Their start-up code runs on a fake of their registers.
NOT_SIMULATED = [
    "//boards/alif_e7_devkit",
    "//boards/arduino_nano33ble",
    "//boards/arduino_zero",
    "//boards/disco_f407",
    "//boards/ek_ra8m1",
    "//boards/frdm_mcxn947",
    "//boards/lpc55s69_evk",
    "//boards/microbit_v2",
    "//boards/mimxrt700_evk",
    "//boards/nrf52840dk",
    "//boards/nrf52dk",
    "//boards/nrf5340dk",
    "//boards/nucleo_c031c6",
    "//boards/nucleo_f446re",
    "//boards/nucleo_g071rb",
    "//boards/nucleo_h743zi",
    "//boards/nucleo_l073rz",
    "//boards/nucleo_l476rg",
    "//boards/nucleo_u575zi",
    "//boards/pico",
    "//boards/pico2",
    "//boards/rt1060_evk",
]

# Every board.
ALL = SIMULATED + NOT_SIMULATED

# Boards that are, or were, on sale. Their data are compared with other sources.
COMMERCIAL = [
    board
    for board in ALL
    if not board.removeprefix("//boards/").startswith(("corstone", "mps"))
]

# A function, not a macro: it makes no target.
# buildifier: disable=unnamed-macro
def board_name(board):
    """Returns the name of a board's folder.

    Args:
      board: label of the board, relative to the calling package.
    """
    return native.package_relative_label(board).name
