# SPDX-License-Identifier: Apache-2.0
"""Instructions of a program, from its disassembly, and the blocks of them that ran."""

import re
from collections import Counter
from dataclasses import dataclass

Block = tuple[str, ...]
"""Instructions in assembly, in order: a sequence always run together."""

_CODE = re.compile(r"^ *([0-9a-f]+):[ \t]+(\S.*)$", re.MULTILINE)
_TARGET = re.compile(r"(?<!#)\b(?:0x)?([0-9a-f]+) <.*>")
_NAME = re.compile(r" <.*>$")
"""Symbol name after a distance: `adr r2, #4 <main+0x8>`."""
_COMMENT = re.compile(r"\s*@.*$")
CONDITION = "(eq|ne|[hc]s|lo|cc|mi|pl|v[sc]|hi|l[st]|g[et]|le)"
_JUMP = re.compile(
    f"((b|bl|bx|blx|bxns|blxns){CONDITION}?|cbn?z|tb[bh]|le|letp|wls|wlstp|udf|svc|bkpt)$"
)
_INTO_PC = re.compile(r"pc\b|.*\{.*\bpc\}")


class CyclesError(Exception):
    """Failed cycle estimate; the text gives the reason."""


@dataclass(frozen=True)
class Code:
    """Instructions of a program.

    Attributes:
        text: by address, in assembly; branch targets are names.
        leaders: first addresses of blocks: branch targets, and the addresses after
            branches.
        following: the address of the next instruction.
    """

    text: dict[int, str]
    leaders: frozenset[int]
    following: dict[int, int]

    @staticmethod
    def of_listing(listing: str) -> "Code":
        """Read the output of objdump, GNU's or LLVM's."""
        text: dict[int, str] = {}
        leaders: set[int] = set()
        following: dict[int, int] = {}
        previous = -1
        for match in _CODE.finditer(listing):
            address, instruction = int(match[1], 16), _COMMENT.sub("", match[2])
            if previous >= 0:
                following[previous] = address
                if is_jump(text[previous]):
                    leaders.add(address)
            leaders |= {int(target, 16) for target in _TARGET.findall(instruction)}
            text[address] = _NAME.sub("", _TARGET.sub("target", instruction))
            previous = address
        return Code(text, frozenset(leaders), following)

    def blocks(self, at: Counter[int]) -> list[tuple[int, Block, int]]:
        """Return the executed blocks: address, instructions, and number of executions.

        Args:
            at: executions by address. A block also begins if they differ from those of the
                instruction before: it is the target of a branch table.

        Raises:
            CyclesError: an executed address is not in the listing.
        """
        if unknown := at.keys() - self.text.keys():
            raise CyclesError(
                f"the program ran code at {min(unknown):#x} that its file does not contain. Code "
                "written at run time has no estimate"
            )
        found: list[tuple[int, Block, int]] = []
        block: list[int] = []
        for address in sorted(at):
            last = block[-1] if block else -1
            new = address in self.leaders or self.following.get(last) != address
            if block and (new or at[address] != at[last]):
                found.append((block[0], tuple(self.text[a] for a in block), at[last]))
                block = []
            block.append(address)
        if block:
            found.append((block[0], tuple(self.text[a] for a in block), at[block[0]]))
        return found


def is_jump(instruction: str) -> bool:
    """Return True if the next executed instruction may be another than the following one."""
    operands = "".join(instruction.split(None, 1)[1:])
    return bool(_JUMP.match(mnemonic(instruction)) or _INTO_PC.match(operands))


def mnemonic(instruction: str) -> str:
    """Return an instruction's mnemonic without width and type."""
    return re.split(r"[.\s]", instruction)[0]
