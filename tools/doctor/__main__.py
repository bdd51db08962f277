# SPDX-License-Identifier: Apache-2.0
"""Runs doctor.py.

python3 -m tools.doctor --clean    # in a checkout
pilotlight doctor --clean          # from the wheel
"""

import sys

from tools.doctor.doctor import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
