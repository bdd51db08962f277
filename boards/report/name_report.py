# SPDX-License-Identifier: Apache-2.0
"""Names the page of an image, for a browser.

name_report app.report.html
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    print(Path(sys.argv[1]).resolve())
