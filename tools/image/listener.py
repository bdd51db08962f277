# SPDX-License-Identifier: Apache-2.0
"""Separation of a new program's output from the earlier program's, while a tool flashes a board."""

import math
import os
import re
import time

_MOST = 4096
_ON_ITS_WAY = 0.05  # seconds for text to pass an adapter and its driver


class Listener:
    """Output received at a port while a flash tool runs.

    The earlier program prints until the tool stops it. All of that is dropped, even PL:PASS. The
    new program starts while the tool still runs, and none of its output may be lost.

    Attributes:
        text: output of the new program.
        may_have_lost: True if some of it may have been dropped, because the tool did not
            report when it stopped the earlier program.
    """

    def __init__(self, port: int, stopped: str) -> None:
        """Start to listen.

        Args:
            port: non-blocking descriptor.
            stopped: pattern of the tool's output once the earlier program is stopped; "" if
                there is none.
        """
        self._port, self._stopped = port, stopped
        self._printed = ""
        self._begins = math.inf
        self.text = b""
        self.may_have_lost = False

    def fileno(self) -> int:
        """Return the port's, for select."""
        return self._port

    def receive(self) -> bool:
        """Read the available data; return True if the port still exists."""
        return self._take() != b""

    def _take(self) -> bytes | None:
        """Read the available data: None if there is none, empty bytes if the port is gone."""
        try:
            chunk = os.read(self._port, _MOST)
        except BlockingIOError:
            return None
        except OSError:  # the next reader notices it
            return b""
        if time.monotonic() >= self._begins:
            self.text += chunk
        elif self._begins == math.inf:
            self.may_have_lost |= bool(chunk)
        return chunk

    def hear(self, printed: bytes) -> None:
        """Handle output of the tool."""
        if self._begins == math.inf and self._stopped:
            self._printed += printed.decode(errors="replace")
            if re.search(self._stopped, self._printed):
                while self._take():  # what is there is the earlier program's, however late we are
                    pass
                self._begins = time.monotonic() + _ON_ITS_WAY
                self.may_have_lost = False

    def end(self) -> None:
        """Handle the end of the tool: later output belongs to the new program."""
        while self._take():
            pass
