# SPDX-License-Identifier: Apache-2.0
"""The boards of this folder."""

HOST = "//boards/host"

# Every board that is simulated, the host with its sanitizers first.
BOARDS = [
    HOST,
    "//boards/corstone300",
    "//boards/mps2_an385",
    "//boards/mps2_an386",
    "//boards/mps2_an500",
    "//boards/mps2_an505",
    "//boards/microbit",
]

def board_name(board):
    """Returns the name of a board's folder.

    Args:
      board: label of the board, relative to the package that calls.
    """
    return native.package_relative_label(board).name
