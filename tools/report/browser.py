# SPDX-License-Identifier: Apache-2.0
"""Opens a page in a browser without a screen."""

import subprocess
from pathlib import Path

from tools.python.runfile import runfile


class BrowserError(Exception):
    """There is no browser."""


def browse(
    text: str, script: str, size: tuple[int, int], folder: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Open a page, run a script at its end, and apply the browser's options.

    Args:
      text: the page.
      script: actions of a reader.
      size: of the window, in pixels.
      folder: for files written by the browser.
      options: of Chromium.
    """
    browser = runfile("chromium/chromium")
    if browser is None:
        raise BrowserError("no Chromium was found; start this program with Bazel")
    page = folder / "page.html"
    page.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    always = ["--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    window = f"--window-size={size[0]},{size[1]}"
    profile = f"--user-data-dir={folder / 'profile'}"
    return subprocess.run(
        [browser, *always, window, profile, *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
