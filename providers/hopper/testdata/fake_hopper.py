#!/usr/bin/env python3
"""Stands for Hopper in tests: it takes Hopper's arguments and runs the bridge
script with a small document, in the words of Hopper's documented Python API."""
import os
import sys

BASE = 0x2000  # of the procedures, inside of what /bin/true maps as code


class CallReference(object):
    def __init__(self, kind, source, target):
        self.values = (kind, source, target)

    def type(self):
        return self.values[0]

    def fromAddress(self):
        return self.values[1]

    def toAddress(self):
        return self.values[2]


class LocalVariable(object):
    def name(self):
        return "var_8"

    def displacement(self):
        return -8


class Instruction(object):
    def __init__(self, name, arguments, length, conditional=False, unconditional=False):
        self.name, self.arguments, self.length = name, arguments, length
        self.conditional, self.unconditional = conditional, unconditional

    def getInstructionString(self):
        return self.name

    def getArgumentCount(self):
        return len(self.arguments)

    def getFormattedArgument(self, i):
        return self.arguments[i]

    def getInstructionLength(self):
        return self.length

    def isAnInconditionalJump(self):
        return self.unconditional

    def isAConditionalJump(self):
        return self.conditional


CODE = {
    BASE: Instruction("test", ["edi", "edi"], 2),
    BASE + 2: Instruction("je", ["loc_2010"], 2, conditional=True),
    BASE + 4: Instruction("call", ["helper"], 5),
    BASE + 9: Instruction("jmp", ["loc_2010"], 2, unconditional=True),
    BASE + 16: Instruction("ret", [], 1),
    BASE + 32: Instruction("mov", ["eax", "dword [rip+0x10]"], 6),
    BASE + 38: Instruction("ret", [], 1),
}
REFERENCES = {BASE + 2: [BASE + 16], BASE + 4: [BASE + 32], BASE + 9: [BASE + 16], BASE + 32: [0x3100]}
NAMES = {BASE: "_Z4mainv", BASE + 32: "sub_%x" % (BASE + 32), 0x3100: "table"}


class BasicBlock(object):
    def __init__(self, start, end, successors):
        self.values = (start, end, successors)

    def getStartingAddress(self):
        return self.values[0]

    def getEndingAddress(self):
        return self.values[1]

    def getSuccessorCount(self):
        return len(self.values[2])

    def getSuccessorAddressAtIndex(self, i):
        return self.values[2][i]


class Procedure(object):
    def __init__(self, blocks, callees):
        self.blocks, self.callees = blocks, callees

    def getEntryPoint(self):
        return self.blocks[0].getStartingAddress()

    def getBasicBlockCount(self):
        return len(self.blocks)

    def getBasicBlock(self, i):
        return self.blocks[i]

    def getAllCallees(self):
        return self.callees

    def decompile(self):
        return "int %s() {\n}\n" % NAMES[self.getEntryPoint()] if self.getEntryPoint() == BASE else None

    def signatureString(self):
        return "int main()"

    def getLocalVariableList(self):
        return [LocalVariable()]


PROCEDURES = [
    Procedure([BasicBlock(BASE + 32, BASE + 39, [])], []),
    Procedure([BasicBlock(BASE, BASE + 4, [BASE + 4, BASE + 16]), BasicBlock(BASE + 4, BASE + 11, [BASE + 16]),
               BasicBlock(BASE + 16, BASE + 17, [])],
              [CallReference(2, BASE + 4, BASE + 32), CallReference(1, BASE + 9, -1)]),
]


class Segment(object):
    BAD_ADDRESS = -1
    TYPE_UNDEFINED, TYPE_ASCII, TYPE_UNICODE, TYPE_CODE, TYPE_PROCEDURE = 0, 7, 8, 65, 66
    comments, inline = {}, {}

    def getStartingAddress(self):
        return 0

    def getLength(self):
        return 0x100000

    def getProcedureCount(self):
        return len(PROCEDURES)

    def getProcedureAtIndex(self, i):
        return PROCEDURES[i]

    def getProcedureAtAddress(self, address):
        for p in PROCEDURES:
            for b in p.blocks:
                if b.getStartingAddress() <= address < b.getEndingAddress():
                    return p
        return None

    def getNameAtAddress(self, address):
        return NAMES.get(address)

    def getDemangledNameAtAddress(self, address):
        return "main()" if address == BASE else NAMES.get(address)

    def setNameAtAddress(self, address, name):
        # Nothing is promised about what is returned.
        if " " in name:
            return
        if name:
            NAMES[address] = name
        else:
            NAMES.pop(address, None)

    def getCommentAtAddress(self, address):
        return self.comments.get(address)

    def setCommentAtAddress(self, address, text):
        self.comments[address] = text or None

    def getInlineCommentAtAddress(self, address):
        return self.inline.get(address)

    def setInlineCommentAtAddress(self, address, text):
        self.inline[address] = text or None

    def getLabelsList(self):
        return [NAMES[a] for a in sorted(NAMES)]

    def getNamedAddresses(self):
        return sorted(NAMES)

    def getTypeAtAddress(self, address):
        if any(p.getEntryPoint() == address for p in PROCEDURES):
            return self.TYPE_PROCEDURE
        return self.TYPE_CODE if address in CODE else self.TYPE_UNDEFINED

    def getNextAddressWithType(self, address, kind):
        return 0x3200 if kind == self.TYPE_ASCII and address <= 0x3200 else self.BAD_ADDRESS

    def getObjectLength(self, address):
        return CODE[address].length if address in CODE else 6 if address == 0x3200 else 1

    def getInstructionStart(self, address):
        for at, instruction in CODE.items():
            if at <= address < at + instruction.length:
                return at
        return address

    def readBytes(self, address, size):
        return b"hello\0"[:size]

    def getInstructionAtAddress(self, address):
        return CODE.get(address)

    def getReferencesFromAddress(self, address):
        return REFERENCES.get(address, [])

    def getReferencesOfAddress(self, address):
        return sorted(a for a, to in REFERENCES.items() if address in to)


class Document(object):
    def __init__(self):
        self.segment, self.cursor, self.bookmarks = Segment(), BASE, {}

    @staticmethod
    def getCurrentDocument():
        return DOCUMENT

    def waitForBackgroundProcessToEnd(self):
        pass

    def getExecutableFilePath(self):
        return EXECUTABLE

    def closeDocument(self):
        pass

    def getSegmentCount(self):
        return 1

    def getSegment(self, i):
        return self.segment

    def getSegmentAtAddress(self, address):
        return self.segment if 0 <= address < self.segment.getLength() else None

    def getCurrentAddress(self):
        return self.cursor

    def moveCursorAtAddress(self, address):
        self.cursor = address

    def hasBookmarkAtAddress(self, address):
        return address in self.bookmarks

    def getBookmarkName(self, address):
        return self.bookmarks[address]

    def setBookmarkAtAddress(self, address, name=None):
        self.bookmarks[address] = name

    def removeBookmarkAtAddress(self, address):
        del self.bookmarks[address]


class GlobalInformation(object):
    @staticmethod
    def getHopperVersion():
        return "5.19.6"


DOCUMENT = Document()
ARGUMENTS = sys.argv[1:]
EXECUTABLE = ARGUMENTS[ARGUMENTS.index("-e") + 1]
SCRIPT = ARGUMENTS[ARGUMENTS.index("-Y") + 1]
if os.path.exists("/proc") and not os.environ.get("DISPLAY"):
    sys.exit("no display")
with open(SCRIPT) as f:
    exec(compile(f.read(), SCRIPT, "exec"), globals())
