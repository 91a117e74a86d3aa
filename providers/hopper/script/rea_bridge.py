# Answers questions about the open document over the socket of its place. It
# translates and concludes nothing; what the rows mean is said in
# runtime/bridge/facts of rea. A line before this one sets ROOT.

import hashlib
import json
import os
import select
import socket
import struct

PROTOCOL = 1
MAX_FRAME = 16 << 20
CHUNK = 500
NOWHERE = (None, -1, 0xFFFFFFFFFFFFFFFF)


class Failure(Exception):
    def __init__(self, code, message):
        Exception.__init__(self, message)
        self.code = code


class Bridge(object):
    def __init__(self, root):
        self.doc = Document.getCurrentDocument()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(os.path.join(root, "s"))
        with open(os.path.join(root, "token")) as f:
            self.token = f.read()
        self.waiting = []
        self.cancelled = set()
        self.open = 0
        self.over = False

    # Frames.

    def send(self, value):
        data = json.dumps(value, separators=(",", ":")).encode("utf-8")
        self.sock.sendall(struct.pack(">I", len(data)) + data)

    def fill(self, size):
        parts = []
        while size > 0:
            part = self.sock.recv(min(size, 1 << 16))
            if not part:
                raise EOFError()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self):
        size = struct.unpack(">I", self.fill(4))[0]
        if size == 0 or size > MAX_FRAME:
            raise EOFError()
        frame = json.loads(self.fill(size).decode("utf-8"))
        if "cancel" in frame:
            self.cancelled.add(frame["cancel"])
        elif "quit" in frame:
            self.over = True
        else:
            self.waiting.append(frame)

    def look(self):
        """Takes in what has come, and ends a question that was given up."""
        while select.select([self.sock], [], [], 0)[0]:
            self.receive()
        if self.over or self.open in self.cancelled:
            raise Failure("cancelled", "the question was given up")

    def rows(self, part, rows):
        chunk = []
        for row in rows:
            chunk.append(row)
            if len(chunk) == CHUNK:
                self.look()
                self.send({"id": self.open, "part": part, "rows": chunk})
                chunk = []
        self.look()
        if chunk:
            self.send({"id": self.open, "part": part, "rows": chunk})

    def serve(self):
        self.doc.waitForBackgroundProcessToEnd()
        digest = hashlib.sha256()
        with open(self.doc.getExecutableFilePath(), "rb") as f:
            for block in iter(lambda: f.read(1 << 20), b""):
                digest.update(block)
        self.send({
            "protocol": PROTOCOL, "token": self.token, "engine": "hopper",
            "version": GlobalInformation.getHopperVersion(), "sha256": digest.hexdigest(),
        })
        try:
            while not self.over:
                if not self.waiting:
                    self.receive()
                    continue
                self.answer(self.waiting.pop(0))
        except (EOFError, OSError):
            pass  # the other side is gone
        self.sock.close()
        self.doc.closeDocument()

    def answer(self, question):
        self.open = question["id"]
        last = {"id": self.open}
        try:
            run = getattr(self, "op_" + question["op"], None)
            if run is None:
                raise Failure("unsupported", "no operation " + question["op"])
            last["end"] = run(**question.get("args", {})) or {}
        except Failure as e:
            last["fail"] = {"code": e.code, "message": str(e)}
        except (EOFError, OSError):
            raise
        except Exception as e:
            last["fail"] = {"code": "failed", "message": "%s: %s" % (type(e).__name__, e)}
        self.send(last)

    # The document.

    def segments(self):
        return [self.doc.getSegment(i) for i in range(self.doc.getSegmentCount())]

    def segment(self, address):
        segment = self.doc.getSegmentAtAddress(address)
        if segment is None:
            raise Failure("not_found", "no segment has this address")
        return segment

    def procedures(self):
        for segment in self.segments():
            for i in range(segment.getProcedureCount()):
                yield segment, segment.getProcedureAtIndex(i)

    def procedure(self, entry):
        procedure = self.segment(entry).getProcedureAtAddress(entry)
        if procedure is None or procedure.getEntryPoint() != entry:
            raise Failure("not_found", "no procedure starts there")
        return procedure

    def blocks(self, procedure):
        return [procedure.getBasicBlock(i) for i in range(procedure.getBasicBlockCount())]

    def instructions(self, procedure):
        for block in self.blocks(procedure):
            at, end = block.getStartingAddress(), block.getEndingAddress()
            segment = self.segment(at)
            while at < end:
                instruction = segment.getInstructionAtAddress(at)
                if instruction is None or instruction.getInstructionLength() <= 0:
                    break
                yield segment, at, instruction
                at += instruction.getInstructionLength()

    def op_program(self):
        blocks = instructions = size = references = 0
        for _, procedure in self.procedures():
            self.look()
            blocks += procedure.getBasicBlockCount()
            for segment, at, instruction in self.instructions(procedure):
                instructions += 1
                size += instruction.getInstructionLength()
                references += len(segment.getReferencesFromAddress(at) or [])
        memory = []
        for segment in self.segments():
            memory += [segment.getStartingAddress(), segment.getStartingAddress() + segment.getLength()]
        return {"image_base": memory[0] if memory else 0, "memory": memory, "instructions": instructions,
                "code_bytes": size, "blocks": blocks, "references": references}

    def op_procedures(self):
        self.rows("procedures", self.procedure_rows())

    def procedure_rows(self):
        for segment, procedure in self.procedures():
            entry = procedure.getEntryPoint()
            name = segment.getNameAtAddress(entry)
            made = "sub_%x" % entry
            ranges = []
            for block in self.blocks(procedure):
                ranges += [block.getStartingAddress(), block.getEndingAddress()]
            row = {"a": entry, "n": name or made, "s": "imported" if name and name != made else "default", "r": ranges}
            readable = segment.getDemangledNameAtAddress(entry)
            if readable and readable != name:
                row["d"] = readable
            yield row

    def op_symbols(self):
        self.rows("symbols", self.symbol_rows())

    def symbol_rows(self):
        for segment in self.segments():
            for name, address in zip(segment.getLabelsList(), segment.getNamedAddresses()):
                kind = segment.getTypeAtAddress(address)
                row = {"a": address, "n": name, "k": "data", "s": "imported"}
                if kind == Segment.TYPE_PROCEDURE:
                    row["k"] = "function"
                elif kind == Segment.TYPE_CODE:
                    row["k"] = "label"
                if name == "sub_%x" % address or name == "loc_%x" % address:
                    row["s"] = "default"
                yield row

    def op_texts(self):
        self.rows("texts", self.text_rows())

    def text_rows(self):
        for segment in self.segments():
            end = segment.getStartingAddress() + segment.getLength()
            for kind, encoding, unit in ((Segment.TYPE_ASCII, "ascii", 1), (Segment.TYPE_UNICODE, "utf16le", 2)):
                at = segment.getNextAddressWithType(segment.getStartingAddress(), kind)
                while at not in NOWHERE and at < end:
                    size = segment.getObjectLength(at)
                    if size <= 0:
                        break
                    stored = segment.readBytes(at, size) or b""
                    if not isinstance(stored, bytes):
                        stored = stored.encode("latin-1")
                    length = len(stored)
                    while length >= unit and stored[length - unit:length] == b"\0" * unit:
                        length -= unit
                    shown = encoding
                    if unit == 1 and any(c > 127 for c in bytearray(stored[:length])):
                        shown = "utf8"
                    if length > 0:
                        yield {"a": at, "l": length, "e": shown, "u": len(segment.getReferencesOfAddress(at) or [])}
                    at = segment.getNextAddressWithType(at + size, kind)

    def op_transfers(self):
        self.rows("transfers", self.transfer_rows())

    def transfer_rows(self):
        for _, procedure in self.procedures():
            for call in procedure.getAllCallees():
                row = {"a": call.fromAddress(), "c": True}
                if call.toAddress() in NOWHERE:
                    row["x"] = True
                else:
                    row["t"] = [call.toAddress()]
                yield row

    # One procedure.

    def op_body(self, entry, want):
        procedure = self.procedure(entry)
        lines = list(self.instructions(procedure))
        if "blocks" in want:
            self.rows("blocks", (self.block_row(b, lines) for b in self.blocks(procedure)))
        if "instructions" in want:
            self.rows("instructions", (self.line(*line) for line in lines))
        if "outgoing" in want:
            self.rows("outgoing", (row for line in lines for row in self.uses(*line)))
        return {"blocks": procedure.getBasicBlockCount(), "instructions": len(lines)}

    def block_row(self, block, lines):
        start, end = block.getStartingAddress(), block.getEndingAddress()
        ways = [block.getSuccessorAddressAtIndex(i) for i in range(block.getSuccessorCount())]
        return {"a": start, "e": end, "n": sum(1 for _, at, _ in lines if start <= at < end),
                "s": [{"t": way, "k": ""} for way in ways if way not in NOWHERE]}

    def flow(self, instruction):
        name = instruction.getInstructionString().lower()
        if instruction.isAnInconditionalJump():
            return "jump"
        if instruction.isAConditionalJump():
            return "conditional_jump"
        if name in ("call", "bl", "blx"):
            return "call"
        if name in ("blr", "blraa", "blrab"):
            return "indirect_call"
        if name.startswith("ret"):
            return "return"
        return "next"

    def line(self, segment, at, instruction):
        operands = [instruction.getFormattedArgument(i) or "" for i in range(instruction.getArgumentCount())]
        row = {"a": at, "l": instruction.getInstructionLength(), "m": instruction.getInstructionString(),
               "o": ", ".join(operands), "f": self.flow(instruction)}
        references = segment.getReferencesFromAddress(at) or []
        if references:
            row["t"] = references[0]
        return row

    def uses(self, segment, at, instruction):
        flow = self.flow(instruction)
        kind = {"jump": "jump", "conditional_jump": "jump", "call": "call", "indirect_call": "call"}.get(flow, "data")
        for to in segment.getReferencesFromAddress(at) or []:
            if to not in NOWHERE:
                yield {"a": at, "t": to, "k": kind, "c": True}

    def is_code(self, segment, at):
        return segment.getTypeAtAddress(at) in (Segment.TYPE_CODE, Segment.TYPE_PROCEDURE)

    def op_references(self, address, direction):
        self.rows("references", self.reference_rows(address, direction))

    def reference_rows(self, address, direction):
        segment = self.doc.getSegmentAtAddress(address)
        if segment is None:
            return
        if direction == "from":
            origins = [address]
        else:
            origins = segment.getReferencesOfAddress(address) or []
        for origin in origins:
            there = self.doc.getSegmentAtAddress(origin)
            if there is None:
                continue
            instruction = there.getInstructionAtAddress(origin) if self.is_code(there, origin) else None
            if instruction is not None:
                rows = self.uses(there, origin, instruction)
            else:
                rows = ({"a": origin, "t": to, "k": "data"} for to in there.getReferencesFromAddress(origin) or [])
            for row in rows:
                if direction == "from" or row["t"] == address:
                    yield row

    def op_instruction(self, address):
        segment = self.segment(address)
        instruction = segment.getInstructionAtAddress(address)
        if instruction is None:
            raise Failure("not_found", "no instruction can be decoded there")
        out = {"line": self.line(segment, address, instruction), "defined": self.is_code(segment, address),
               "read": [], "written": []}
        for i in range(instruction.getArgumentCount()):
            shown = instruction.getFormattedArgument(i) or ""
            if "[" in shown:
                out["memory"] = {"text": shown, "access": "unknown"}
        return out

    def op_item(self, address, step):
        if step > 0:
            segment = self.doc.getSegmentAtAddress(address)
            at = address + max(1, segment.getObjectLength(address)) if segment else address + 1
            later = [s.getStartingAddress() for s in self.segments() if s.getStartingAddress() > address]
            if self.doc.getSegmentAtAddress(at) is None:
                if not later:
                    return {}
                at = min(later)
        else:
            at = address - 1
            segment = self.doc.getSegmentAtAddress(at)
            if segment is None:
                ends = [s.getStartingAddress() + s.getLength() for s in self.segments()]
                ends = [end for end in ends if end <= address]
                if not ends:
                    return {}
                at = max(ends) - 1
                segment = self.doc.getSegmentAtAddress(at)
            start = segment.getInstructionStart(at)
            at = at if start in NOWHERE else start
        segment = self.segment(at)
        kind = segment.getTypeAtAddress(at)
        names = {Segment.TYPE_CODE: "instruction", Segment.TYPE_PROCEDURE: "instruction", Segment.TYPE_ASCII: "string",
                 Segment.TYPE_UNICODE: "string", Segment.TYPE_UNDEFINED: "byte"}
        return {"address": at, "kind": names.get(kind, "data")}

    def op_decompile(self, entry, seconds):
        procedure = self.procedure(entry)
        text = procedure.decompile()
        if not text:
            raise Failure("failed", "the procedure cannot be decompiled")
        variables = [{"name": v.name(), "location": "stack %+d" % v.displacement()}
                     for v in procedure.getLocalVariableList() or []]
        return {"text": text, "signature": procedure.signatureString() or "", "variables": variables}

    # The cursor and annotations.

    def op_cursor(self):
        address = self.doc.getCurrentAddress()
        return {} if address in NOWHERE else {"address": address}

    def op_move(self, address):
        self.segment(address)
        self.doc.moveCursorAtAddress(address)
        return {"address": address}

    def op_annotate(self, changes):
        previous = []
        try:
            for change in changes:
                previous.append(self.note(change))
                self.set(change, change["value"])
        except Exception as e:
            # All or none: what was made is taken back, the last change first.
            for change, value in reversed(list(zip(changes, previous))):
                self.set(change, value)
            raise Failure("refused", str(e))
        return {"previous": previous}

    def note(self, change):
        address = change["address"]
        segment = self.segment(address)
        if change["kind"] == "name":
            name = segment.getNameAtAddress(address)
            return None if name == "sub_%x" % address else name
        if change["kind"] == "comment":
            return segment.getCommentAtAddress(address)
        if change["kind"] == "inline":
            return segment.getInlineCommentAtAddress(address)
        return self.doc.getBookmarkName(address) if self.doc.hasBookmarkAtAddress(address) else None

    def set(self, change, value):
        address = change["address"]
        segment = self.segment(address)
        if change["kind"] == "name":
            segment.setNameAtAddress(address, value or "")
            if value is not None and segment.getNameAtAddress(address) != value:
                raise Failure("refused", "the name is not accepted")
        elif change["kind"] == "comment":
            segment.setCommentAtAddress(address, value or "")
        elif change["kind"] == "inline":
            segment.setInlineCommentAtAddress(address, value or "")
        else:
            if self.doc.hasBookmarkAtAddress(address):
                self.doc.removeBookmarkAtAddress(address)
            if value is not None:
                self.doc.setBookmarkAtAddress(address, value)


Bridge(ROOT).serve()
