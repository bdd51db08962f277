# SPDX-License-Identifier: Apache-2.0
"""Write an image to a connected board, by one of the board's flash methods.

    bazel run //boards:nrf52840dk_app.flash -- --flash_tool=openocd
    bazel run //boards:nrf52840dk_app.flash -- -- --frequency=1m
    flash --board=board.json [--flash_tool=openocd] [--probe=SERIAL] program.hex program.bin \\
        [-- further arguments of the tool]

Without --flash_tool, it uses the first of the board's methods with an installed tool. The tool runs
in the working folder of `bazel run`: its arguments may contain files there.
"""

from tools.text.signal_handling import run_main

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.flash_tools import METHODS, PROBES, Image, Method, advice
from tools.image.listener import Listener
from tools.image.serial_port import may_not_use
from tools.image.tool_process import run_tool
from tools.image.uf2 import HexError, copy_to_drive, drives, read_hex, uf2
from tools.image.usb import DEVICES, UsbDevice, usb_devices

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_TOOL = flags.DEFINE_string("flash_tool", "", "Which of the board's methods, e.g. openocd.")
_PROBE = flags.DEFINE_string(
    "probe",
    "",
    "Serial number of the probe, if several are connected: of bossac the port, of UF2 the drive.",
)


class FlashError(Exception):
    """Failed flashing; the text gives the reason and the remedy."""


def visible_path(file: Path) -> Path:
    """Return the path of a built file, relative to the working folder of `bazel run`.

    This program runs among links to Bazel's outputs. The workspace also has such a link, bazel-out.
    """
    real = file.resolve()
    if "bazel-out" in real.parts and "BUILD_WORKSPACE_DIRECTORY" in os.environ:
        output = Path(*real.parts[real.parts.index("bazel-out") :])
        linked = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / output
        if linked.exists():
            return Path(os.path.relpath(linked, os.environ["BUILD_WORKING_DIRECTORY"]))
    return real


def chosen_method(board: Board, tool: str, image: Image) -> dict[str, Any]:
    """Return the board's method to use: `tool`, or the first usable one if `tool` is "".

    Raises:
        FlashError: there is none.
    """
    methods = {method["method"]: method for method in board.flash}
    if not methods:
        raise FlashError(
            f"the board {board.name} has no flash method (flash_method of its chip): copy "
            f"{image.hex} to it as its maker describes"
        )
    if tool and tool not in methods:
        raise FlashError(
            f"the board {board.name} has no flash method {tool}. Choices: {', '.join(methods)}"
        )
    for name in [tool] if tool else methods:
        if name == "uf2" or shutil.which(METHODS[name].program):
            return methods[name]
    ways = [
        f"  {METHODS[name].program}: {METHODS[name].install}"
        for name in ([tool] if tool else methods)
    ]
    raise FlashError("\n".join([f"nothing is installed that flashes {board.name}:", *ways]))


def _flash_drive(board: Board, method: dict[str, Any], hex_file: Path, chosen: str) -> None:
    found = [drive for drive in drives(method["board_id"]) if not chosen or drive == Path(chosen)]
    if not found:
        others = [one["method"] for one in board.flash if one["method"] != "uf2"]
        with_probe = f"; --flash_tool={', '.join(others)} with a debug probe" if others else ""
        raise FlashError(
            f"no drives of a boot loader {method['board_id']} are mounted"
            + (f" at {chosen}" if chosen else "")
            + f": {method['hint']}, and mount it if your system does not{with_probe}"
        )
    if len(found) > 1:
        listed = "".join(f"\n  --probe={drive}" for drive in found)
        raise FlashError(f"several boards are connected: say which one with{listed}")
    print(f"copying {hex_file} as UF2 to {found[0]}, the boot loader of {board.name}", flush=True)
    try:
        data = uf2(read_hex(hex_file.read_text()), method["family"])
        is_seen_through = copy_to_drive(data, "image", found[0])
    except (HexError, OSError) as error:
        raise FlashError(f"{hex_file} could not be copied to {found[0]}: {error}") from error
    if is_seen_through:
        print("copied: the board restarts when it has all of it", flush=True)
    else:
        print("the drive is gone, as it is when the board has all and restarts", flush=True)


def _probes(
    used: Method, method: dict[str, Any], connected: Sequence[UsbDevice]
) -> list[tuple[str, str]]:
    """Return the values of --probe= accepted by the tool, and the names of these devices."""
    pattern = used.probes(method)
    return [
        (one.ports[0] if used.by_port else one.serial, one.name)
        for one in connected
        if pattern
        and re.search(pattern, one.name, re.IGNORECASE)
        and (one.ports or not used.by_port)
    ]


def _expect_one(found: Sequence[tuple[str, str]]) -> None:
    """Raise FlashError if there are several devices and the tool would take the first."""
    if len(found) > 1:
        listed = "".join(f"\n  --probe={probe}  {name}" for probe, name in found)
        raise FlashError(f"several boards are connected: say which one with{listed}")


def _expect_usable(name: str) -> None:
    """Raise FlashError if the user has no access to a port: the tool would find no device."""
    port = Path("/dev", name)
    if port.exists() and not os.access(port, os.R_OK | os.W_OK):
        raise FlashError(may_not_use(port))


def _is_meant(one: UsbDevice, method: dict[str, Any]) -> bool:
    """Return True if a tool might use a device: a probe, or the boot loader of the board's chip."""
    of_usb = f"{one.vendor}:{one.product}" == method.get("usb")
    return of_usb if "usb" in method else bool(re.search(PROBES, one.name, re.IGNORECASE))


def flash(
    board: Board,
    image: Image,
    tool: str,
    probe: str,
    further: Sequence[str],
    listener: Listener | None = None,
) -> None:
    """Flash a board.

    Args:
        board: kind of board.
        image: content to write.
        tool: the board's method, "" for the first usable one.
        probe: probe, port or drive to use, "" for the only one.
        further: arguments of the tool.
        listener: receives the board's output while a tool runs.

    Raises:
        FlashError: flashing failed.
    """
    method = chosen_method(board, tool, image)
    if method["method"] == "uf2":
        if further:
            raise FlashError(
                f"copying to a drive takes no further arguments; got {' '.join(further)}"
            )
        folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""))
        _flash_drive(board, method, folder / image.hex, probe)
        return
    used = METHODS[method["method"]]
    program = shutil.which(used.program)
    assert program is not None
    connected = usb_devices(DEVICES)
    found = [(probe, "")] if probe else _probes(used, method, connected)
    _expect_one(found)
    if used.by_port and found:
        probe = found[0][0]  # else it takes the first port, perhaps of another device
        _expect_usable(probe)
    with tempfile.TemporaryDirectory() as folder_of_script:
        arguments = used.arguments(method, image, probe)
        if used.script is not None:
            script = Path(folder_of_script) / "script"
            script.write_text(used.script(image))
            arguments = [argument.replace("{script}", str(script)) for argument in arguments]
        print(f"flashing {image.hex} to {board.name} with {used.program}", flush=True)
        try:
            status, printed = run_tool(
                [program, *arguments, *further],
                os.environ.get("BUILD_WORKING_DIRECTORY"),
                listener,
            )
        except OSError as error:
            raise FlashError(f"{program} does not start: {error.strerror}") from error
    if status == 0 or (used.done and re.search(used.done, printed)):
        return
    meant = [one for one in connected if _is_meant(one, method)]
    told = advice(
        printed,
        used,
        sorted({one.vendor for one in meant}),
        sorted({one.vendor for one in meant if not one.may_be_used}),
    )
    raise FlashError(
        f"{program} ended with status {status}; the image is {image.hex}"
        + (f"\n{told}" if told else "")
    )


def main(argv: Sequence[str]) -> int:
    if len(argv) < 3:
        raise app.UsageError("give the image's .hex and .bin")
    try:
        board = load_board(Path(_BOARD.value))
        image = Image(visible_path(Path(argv[1])), visible_path(Path(argv[2])))
        flash(board, image, _TOOL.value, _PROBE.value, argv[3:])
    except (BoardError, FlashError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_main(main)
