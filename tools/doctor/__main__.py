# SPDX-License-Identifier: Apache-2.0
"""`python3 -m tools.doctor` (doctor.py)."""

import sys

from tools.doctor.doctor import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
