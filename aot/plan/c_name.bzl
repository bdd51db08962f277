# SPDX-License-Identifier: Apache-2.0
"""What a target's plan is called in C."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = "0123456789"
_OTHERS_OF_A_LABEL = "!%-@^#$&'()*+,;<=>?[]{|}~/.:\" "

_KEYWORDS = [
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register restrict return short signed sizeof static struct switch typedef",
    "union unsigned void volatile while",
]

# What a plan's file declares itself, or finds in the headers that it includes.
_TAKEN = ["NULL", "arenas", "input_rows", "inputs", "main", "memcpy", "memset", "outputs", "row_source", "steps"]
_TAKEN_BEGINNINGS = tuple(
    ["_", "PL_", "arena_", "constant_", "pl_", "run_pl_"] +
    ["step_%d" % digit for digit in range(10)],
)

def c_name(name):
    """Makes a C identifier of a target's name.

    Args:
      name: of the target.

    Returns:
      The name with an underscore for each character that C has not: `my-app.v2` is `my_app_v2`.
      None if it begins with a digit, is a word of the language, or a name that the plan's file has
      for something else.
    """
    found = "".join([c if c in _LETTERS + _DIGITS else "_" for c in name.elems()])
    if found[0] in _DIGITS or found in " ".join(_KEYWORDS).split(" "):
        return None
    if found in _TAKEN or found.startswith(_TAKEN_BEGINNINGS) or found.endswith("_t"):
        return None
    return found

def is_ascii(label):
    """Whether a label has no letter beyond ASCII: Bazel loses such in the paths of what it compiles.

    Args:
      label: as text.

    Returns:
      Whether C can be compiled of a target of this name.
    """
    return not [c for c in label.elems() if c not in _LETTERS + _DIGITS + _OTHERS_OF_A_LABEL]

def check_compiled(rule, name):
    """Fails where Bazel cannot compile the C of a target.

    Args:
      rule: that makes it.
      name: of the target, in this package.
    """
    if not is_ascii("//%s:%s" % (native.package_name(), name)):
        fail(("%s //%s:%s: Bazel compiles no C whose path has letters beyond ASCII; name it and its " +
              "folder otherwise (a pte_model may be called so)") % (rule, native.package_name(), name))

def plan_header(package, name):
    """Gives the path that a plan's header is included by.

    Args:
      package: of the plan_library, "" for the workspace's root.
      name: of the plan in C.

    Returns:
      `package/name.h`.
    """
    return "/".join([part for part in [package, name + ".h"] if part])
