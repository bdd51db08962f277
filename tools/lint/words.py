# SPDX-License-Identifier: Apache-2.0
"""Check how plain the words of the tree are: docstrings, pages, comments.

Counts openings without a subject ("Of", "What"), relative clauses, and words such as "says" or
"behind". Each room and each kind of text has the limits of LIMITS. A single file may have two hits
of a kind, or twice the limit, so that a new file does not hide in the average of its room.

    bazel run //tools/lint:words                          what exceeds a limit
    bazel run //tools/lint:words -- --figures --worst=20  a table, and the texts to rewrite first
"""

from tools.text.signal_handling import run_main

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from absl import app, flags

from tools.lint.workspace import source_files, workspace_root

_FIGURES = flags.DEFINE_boolean("figures", False, "print the figures of each kind of text")
_WORST = flags.DEFINE_integer("worst", 0, "print this many texts to rewrite first", lower_bound=0)

_OPENINGS = frozenset(
    ("What", "Whether", "Of", "How", "Where", "Which", "As", "In", "By", "That", "Whose", "To")
    + ("Those", "So", "From", "With", "At", "On")
)


@dataclass(frozen=True)
class Limit:
    """A limit for one kind of hit.

    Attributes:
      name: what is counted.
      most: hits for each thousand words; for openings, percent of the texts.
      hits: the expression that finds them; None for openings.
    """

    name: str
    most: float
    hits: re.Pattern[str] | None


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b({text})\b", re.IGNORECASE)


LIMITS = (
    Limit("openings without a subject", 1.0, None),
    Limit("that, which, what, whose, whether", 16.0, _words("that|which|what|whose|whether")),
    Limit("of which", 0.5, _words("(of|by|from|in|for|to|with|on|at) (which|what|whom)")),
    Limit("says, told, speaks", 0.5, _words("says?|said|tells?|told|speaks?")),
    Limit("behind, beside, in front of", 0.3, _words("behind|beside|in front of")),
)
"""Limits of each room and kind of text."""

_LONGEST = {"pages": (17, 30, 80)}
"""Words in the median sentence, in nine of ten sentences, and in nine of ten paragraphs."""

_FREE_HITS = 2  # of a limit, in a file or a room
_LEAST_WORDS = 1500  # of a room's texts: rates of fewer words mean little
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")


@dataclass(frozen=True)
class Text:
    """A docstring, a paragraph or a block of comment lines, with its place in the tree."""

    path: str
    line: int
    kind: str
    text: str

    @property
    def opening(self) -> str:
        return self.text.strip().split(" ")[0].strip("`*")


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of all strings that stand alone in a body."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for item in body if isinstance(body, list) else []:
            value = item.value if isinstance(item, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value


def comments(source: str, mark: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of blocks of comment lines."""
    block: list[str] = []
    line = re.compile(rf"\s*{mark}(?!!)\s?(.*)")
    for number, text in enumerate([*source.split("\n"), ""], 1):
        found = line.match(text)
        if found and "SPDX" not in text:
            block.append(found[1])
        elif block:
            yield number - len(block), " ".join(block)
            block = []


def paragraphs(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of a page's paragraphs and items; not of code, tables or headings."""
    number = 1
    for part in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", source, flags=re.DOTALL)):
        plain = part.strip()
        if plain and not plain.startswith(("|", "#", "<")):
            for item in re.split(r"\n\s*(?=[-*] |\d+\. )", plain):
                yield number, re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", item)
        number += part.count("\n") + 2


Reader = Callable[[str], Iterator[tuple[int, str]]]
_READERS: tuple[tuple[str, tuple[str, ...], Reader], ...] = (
    ("docstrings", ("*.py",), docstrings),
    ("pages", ("*.md",), paragraphs),
    ("C comments", ("*.c", "*.h"), lambda source: comments(source, "//")),
    ("other comments", ("*.bzl", "*.bazel", "*.py"), lambda source: comments(source, "#")),
)


def texts(path: str, source: str) -> Iterator[Text]:
    """Yield all texts of a file, by the ending of its path."""
    for kind, endings, reader in _READERS:
        if path.endswith(tuple(ending[1:] for ending in endings)):
            for line, text in reader(source):
                yield Text(path, line, kind, text)


def count(found: Iterable[Text], limit: Limit) -> tuple[int, int]:
    """Return the hits of a limit in texts, and the words, or the texts, to relate them to."""
    if limit.hits is None:
        openings = [text.opening in _OPENINGS for text in found]
        return sum(openings), len(openings)
    hits = words = 0
    for text in found:
        hits += len(limit.hits.findall(text.text))
        words += len(text.text.split())
    return hits, words


def _exceeds(hits: int, of: int, limit: Limit, share: float = 1.0) -> bool:
    return hits * (100 if limit.hits is None else 1000) > share * limit.most * of


def problems(found: Iterable[Text]) -> list[str]:
    """Return one line for each limit that a room or a file exceeds."""
    rooms: dict[tuple[str, str], list[Text]] = defaultdict(list)
    files: dict[tuple[str, str], list[Text]] = defaultdict(list)
    for text in found:
        rooms[text.path.split("/")[0] if "/" in text.path else ".", text.kind].append(text)
        files[text.path, text.kind].append(text)
    lines = []
    for (name, kind), of in sorted(files.items()):
        for limit in LIMITS:
            hits, base = count(of, limit)
            if hits > _FREE_HITS and _exceeds(hits, base, limit, 2.0):
                lines.append(f"{name}: {kind}: {hits} times {limit.name}, {_rate(limit)}")
    for (name, kind), of in sorted(rooms.items()):
        if sum(len(text.text.split()) for text in of) < _LEAST_WORDS:
            continue
        for limit in LIMITS:
            hits, base = count(of, limit)
            if hits > _FREE_HITS and _exceeds(hits, base, limit):
                lines.append(f"{name}/: {kind}: {hits} times {limit.name}, {_rate(limit)}")
        lengths = _lengths(of)
        if any(got > most for got, most in zip(lengths, _LONGEST.get(kind, (13,)), strict=False)):
            lines.append(
                f"{name}/: {kind}: {lengths[0]} words in the median sentence, {lengths[1]} in nine "
                f"of ten, {lengths[2]} in nine of ten texts; limits {_LONGEST.get(kind, (13,))}"
            )
    return lines


def _lengths(of: list[Text]) -> tuple[int, int, int]:
    """Return the words of the median sentence, and of nine of ten sentences and texts at most."""
    flat = [" ".join(text.text.split()) for text in of]
    words = (len(part.split()) for text in flat for part in _SENTENCE_END.split(text))
    sentences = sorted(count for count in words if count >= 3) or [0]
    whole = sorted(len(text.split()) for text in flat) or [0]
    return (
        sentences[len(sentences) // 2],
        sentences[len(sentences) * 9 // 10],
        whole[len(whole) * 9 // 10],
    )


def _rate(limit: Limit) -> str:
    return f"limit {limit.most:g} {'%' if limit.hits is None else 'in 1,000 words'}"


def _figures(found: list[Text]) -> Iterator[str]:
    for kind, _, _ in _READERS:
        of = [text for text in found if text.kind == kind]
        yield f"{kind}: {len(of)} texts"
        for limit in LIMITS:
            hits, base = count(of, limit)
            rate = hits * (100 if limit.hits is None else 1000) / max(base, 1)
            yield f"  {limit.name:<34} {rate:6.1f}   {_rate(limit)}"
        median, sentence, whole = _lengths(of)
        yield f"  words: {median} in the median sentence; {sentence} in nine of ten, texts {whole}"


def _weight(text: Text) -> int:
    hits = (len(limit.hits.findall(text.text)) for limit in LIMITS if limit.hits)
    return sum(hits) + 3 * (text.opening in _OPENINGS)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = workspace_root()
    patterns = sorted({ending for _, endings, _ in _READERS for ending in endings})
    found = [
        text
        for path in source_files(root, patterns)
        for text in texts(path, (root / path).read_text(encoding="utf-8"))
    ]
    if _FIGURES.value:
        print("\n".join(_figures(found)), flush=True)
    for text in sorted(found, key=_weight, reverse=True)[: _WORST.value]:
        print(f"{text.path}:{text.line}: {' '.join(text.text.split())[:300]}", flush=True)
    lines = problems(found)
    for line in lines:
        print(line, flush=True)
    print(f"words: {len(found)} texts, {len(lines)} limits exceeded", flush=True)
    if lines:
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
