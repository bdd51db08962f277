# SPDX-License-Identifier: Apache-2.0
"""The page of evidence, and the tests that its claims name."""

from __future__ import annotations

from tools.evidence.claims import CLAIMS, LIMITS
from tools.evidence.evidence import results_of
from tools.evidence.page import page

_SIZE = {
    "board": "corstone300",
    "core": "cortex-m55",
    "memories": [
        {
            "name": "flash",
            "size": 4096,
            "used": 1234,
            "by_origin": {"external/pilotlight~/kernels/conv2d": 9, "kernels/common": 5, "app": 3},
        }
    ],
    "stack": {"size": 2048, "bound": 1500, "path": ["main", "run<int>"]},
    "handler_stack": {"size": 256, "bound": None, "path": ["handler"]},
}


def _page(results: dict[str, str]) -> str:
    return page("//app:image", _SIZE, "GCC 14", [("image.elf", "00ff")], results)


def test_the_page_has_all_facts() -> None:
    text = _page({})
    for fact in ("//app:image", "cortex-m55", "GCC 14", "00ff", "1,234", "1,500", "none"):
        assert fact in text
    assert "image: conv2d." in text
    assert "main &gt; run&lt;int&gt;" in text
    assert all(limit.replace("'", "&#x27;") in text for limit in LIMITS)
    assert text.count("not run") == sum(len(claim.tests) for claim in CLAIMS)


def test_results_stand_beside_their_tests() -> None:
    test = f"//{CLAIMS[0].tests[0]}"
    assert f"{test}: failed" in _page({test: "failed"})


def test_results_are_read_from_bazel() -> None:
    output = (
        "//a:one        PASSED in 2.9s\n//a/b:two   (cached) PASSED in 1s\n"
        "//c:three     FAILED in 88.5s\n  /tmp/log\n//d:four   FAILED TO BUILD\n"
    )
    assert results_of(output) == {
        "//a:one": "passed",
        "//a/b:two": "passed",
        "//c:three": "failed",
        "//d:four": "failed to build",
    }
