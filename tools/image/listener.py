# SPDX-License-Identifier: Apache-2.0
"""Tells a new program's text from that of the earlier one, while a tool writes it to a board."""

import math
import os
import re
import time

_MOST = 4096
_ON_ITS_WAY = 0.05  # seconds that text takes through an adapter and its driver


class Listener:
    """What a port receives while a flash tool runs.

    The earlier program prints until the tool stops it: all of that is dropped, were it PL:PASS. The
    new one begins while the tool still runs, and nothing of it may be missed.

    Attributes:
        text: the new program's.
        may_have_lost: whether some of it may have been dropped, as the tool did not say when it had
            stopped the earlier one.
    """

    def __init__(self, port: int, stopped: str) -> None:
        """Listens.

        Args:
            port: descriptor, which does not block.
            stopped: pattern of what the tool prints when the earlier program runs no more; "" if it
                does not say.
        """
        self._port, self._stopped = port, stopped
        self._printed = ""
        self._begins = math.inf
        self.text = b""
        self.may_have_lost = False

    def fileno(self) -> int:
        """The port's, for select."""
        return self._port

    def receive(self) -> bool:
        """Takes what is there; returns whether the port is."""
        return self._take() != b""

    def _take(self) -> bytes | None:
        """Takes what is there: None for nothing, no bytes where the port is gone."""
        try:
            chunk = os.read(self._port, _MOST)
        except BlockingIOError:
            return None
        except OSError:  # as who reads on finds
            return b""
        if time.monotonic() >= self._begins:
            self.text += chunk
        elif self._begins == math.inf:
            self.may_have_lost |= bool(chunk)
        return chunk

    def hear(self, printed: bytes) -> None:
        """Takes what the tool has printed."""
        if self._begins == math.inf and self._stopped:
            self._printed += printed.decode(errors="replace")
            if re.search(self._stopped, self._printed):
                while self._take():  # what is there is the earlier program's, however late we are
                    pass
                self._begins = time.monotonic() + _ON_ITS_WAY
                self.may_have_lost = False

    def end(self) -> None:
        """The tool has ended: what comes later is the new program's."""
        while self._take():
            pass
