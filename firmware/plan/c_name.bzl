# SPDX-License-Identifier: Apache-2.0
"""What a target's plan is called in C."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = "0123456789"

_KEYWORDS = [
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register restrict return short signed sizeof static struct switch typedef",
    "union unsigned void volatile while",
]

def c_name(name):
    """Makes a C identifier of a target's name.

    Args:
      name: of the target.

    Returns:
      The name with an underscore for each character that C has not: `my-app.v2` is `my_app_v2`.
      None if it begins with a digit or is a word of the language.
    """
    found = "".join([c if c in _LETTERS + _DIGITS else "_" for c in name.elems()])
    if found[0] in _DIGITS or found in " ".join(_KEYWORDS).split(" "):
        return None
    return found
