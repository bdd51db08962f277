# SPDX-License-Identifier: Apache-2.0
"""C name of a target's plan."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = "0123456789"
_OTHERS_OF_A_LABEL = "!%-@^#$&'()*+,;<=>?[]{|}~/.:\" "

_KEYWORDS = [
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register restrict return short signed sizeof static struct switch typedef",
    "union unsigned void volatile while",
]

# Names declared in a plan's file or its headers.
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
      The name with an underscore for each character not allowed in C: `my-app.v2` is
        `my_app_v2`. None if
      it begins with a digit, is a C keyword, or is another name in the plan's file.
    """
    found = "".join([c if c in _LETTERS + _DIGITS else "_" for c in name.elems()])
    if found[0] in _DIGITS or found in " ".join(_KEYWORDS).split(" "):
        return None
    if found in _TAKEN or found.startswith(_TAKEN_BEGINNINGS) or found.endswith("_t"):
        return None
    return found

def is_ascii(label):
    """Returns True for an ASCII label: Bazel loses other letters in the paths of compiled files.

    Args:
      label: as text.

    Returns:
      True if C can be compiled for a target of this name.
    """
    return not [c for c in label.elems() if c not in _LETTERS + _DIGITS + _OTHERS_OF_A_LABEL]

def check_compiled(rule, name):
    """Fails if Bazel cannot compile the C of a target.

    Args:
      rule: the rule of the target.
      name: of the target, in this package.
    """
    if not is_ascii("//%s:%s" % (native.package_name(), name)):
        fail(("%s //%s:%s: Bazel compiles no C whose path has letters beyond ASCII; name it and its " +
              "folder otherwise (a pte_model may be called so)") % (rule, native.package_name(), name))

def plan_header(package, name):
    """Returns the include path of a plan's header.

    Args:
      package: of the plan_library, "" for the workspace's root.
      name: of the plan in C.

    Returns:
      `package/name.h`.
    """
    return "/".join([part for part in [package, name + ".h"] if part])
