// Answers questions about the analysed program over the socket of its place.
// It translates and concludes nothing; what the rows mean is said in
// runtime/bridge/facts of rea.
//@category rea

import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

import ghidra.app.decompiler.DecompInterface;
import ghidra.app.decompiler.DecompileOptions;
import ghidra.app.decompiler.DecompileResults;
import ghidra.app.script.GhidraScript;
import ghidra.app.util.PseudoDisassembler;
import ghidra.framework.Application;
import ghidra.program.model.address.Address;
import ghidra.program.model.address.AddressRange;
import ghidra.program.model.address.AddressSetView;
import ghidra.program.model.block.BasicBlockModel;
import ghidra.program.model.block.CodeBlock;
import ghidra.program.model.block.CodeBlockIterator;
import ghidra.program.model.block.CodeBlockReference;
import ghidra.program.model.block.CodeBlockReferenceIterator;
import ghidra.program.model.data.Array;
import ghidra.program.model.data.BitFieldDataType;
import ghidra.program.model.data.BuiltInDataType;
import ghidra.program.model.data.Composite;
import ghidra.program.model.data.DataType;
import ghidra.program.model.data.DataTypeComponent;
import ghidra.program.model.data.FunctionDefinition;
import ghidra.program.model.data.Pointer;
import ghidra.program.model.data.StringDataInstance;
import ghidra.program.model.data.Structure;
import ghidra.program.model.data.TypeDef;
import ghidra.program.model.lang.Register;
import ghidra.program.model.listing.Bookmark;
import ghidra.program.model.listing.BookmarkManager;
import ghidra.program.model.listing.CodeUnit;
import ghidra.program.model.listing.CommentType;
import ghidra.program.model.listing.Data;
import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.FunctionManager;
import ghidra.program.model.listing.Instruction;
import ghidra.program.model.listing.InstructionIterator;
import ghidra.program.model.listing.Listing;
import ghidra.program.model.mem.MemoryBlock;
import ghidra.program.model.pcode.HighFunction;
import ghidra.program.model.pcode.HighSymbol;
import ghidra.program.model.pcode.PcodeOp;
import ghidra.program.model.pcode.PcodeOpAST;
import ghidra.program.model.pcode.Varnode;
import ghidra.program.model.pcode.VarnodeAST;
import ghidra.program.model.scalar.Scalar;
import ghidra.program.model.symbol.FlowType;
import ghidra.program.model.symbol.RefType;
import ghidra.program.model.symbol.Reference;
import ghidra.program.model.symbol.ReferenceManager;
import ghidra.program.model.symbol.SourceType;
import ghidra.program.model.symbol.Symbol;
import ghidra.program.model.symbol.SymbolTable;
import ghidra.program.model.symbol.SymbolType;
import ghidra.util.task.TaskMonitorAdapter;

public class ReaBridge extends GhidraScript {

	private static final int PROTOCOL = 1;
	private static final int MAX_FRAME = 16 << 20;
	private static final int CHUNK = 1 << 18; // characters of rows in one frame
	private static final String BOOKMARK_TYPE = "Note";
	private static final String BOOKMARK_CATEGORY = "rea";

	private SocketChannel channel;
	private final LinkedBlockingQueue<Map<String, Object>> questions = new LinkedBlockingQueue<>();
	private volatile long openId;
	private volatile TaskMonitorAdapter task = new TaskMonitorAdapter(true);
	private DecompInterface decompiler;

	@Override
	public void run() throws Exception {
		Path root = Path.of(getScriptArgs()[0]);
		channel = SocketChannel.open(UnixDomainSocketAddress.of(root.resolve("s")));
		try {
			Map<String, Object> hello = new LinkedHashMap<>();
			hello.put("protocol", PROTOCOL);
			hello.put("token", Files.readString(root.resolve("token")));
			hello.put("engine", "ghidra");
			hello.put("version", Application.getApplicationVersion());
			String digest = currentProgram.getExecutableSHA256();
			hello.put("sha256", digest == null ? "" : digest);
			send(Json.write(hello));
			Thread reader = new Thread(this::read, "rea bridge");
			reader.setDaemon(true);
			reader.start();
			for (;;) {
				Map<String, Object> question = questions.take();
				if (question.containsKey("quit")) {
					return;
				}
				answer(question);
			}
		}
		finally {
			channel.close();
			if (decompiler != null) {
				decompiler.dispose();
			}
		}
	}

	// Frames.

	private void read() {
		try {
			for (;;) {
				ByteBuffer head = fill(4);
				int size = head.getInt();
				if (size <= 0 || size > MAX_FRAME) {
					break;
				}
				ByteBuffer body = fill(size);
				Map<String, Object> frame = Json.object(StandardCharsets.UTF_8.decode(body).toString());
				if (frame.containsKey("cancel")) {
					if (number(frame, "cancel") == openId) {
						task.cancel();
					}
					continue;
				}
				questions.add(frame);
				if (frame.containsKey("quit")) {
					task.cancel();
				}
			}
		}
		catch (IOException | RuntimeException e) {
			// The other side is gone, which ends the script.
		}
		task.cancel();
		questions.add(Map.of("quit", true));
	}

	private ByteBuffer fill(int size) throws IOException {
		ByteBuffer buffer = ByteBuffer.allocate(size);
		while (buffer.hasRemaining()) {
			if (channel.read(buffer) < 0) {
				throw new EOFException();
			}
		}
		return buffer.flip();
	}

	private void send(String json) throws IOException {
		byte[] data = json.getBytes(StandardCharsets.UTF_8);
		ByteBuffer frame = ByteBuffer.allocate(4 + data.length);
		frame.putInt(data.length).put(data).flip();
		while (frame.hasRemaining()) {
			channel.write(frame);
		}
	}

	private static class Failure extends Exception {
		final String code;

		Failure(String code, String message) {
			super(message);
			this.code = code;
		}
	}

	/** Rows of one part of an answer. */
	private class Rows {
		private final String part;
		private final StringBuilder text = new StringBuilder();

		Rows(String part) {
			this.part = part;
		}

		void add(Object row) throws IOException, Failure {
			if (task.isCancelled()) {
				throw new Failure("cancelled", "the question was given up");
			}
			text.append(text.length() == 0 ? "" : ",");
			Json.append(text, row);
			if (text.length() > CHUNK) {
				flush();
			}
		}

		void flush() throws IOException {
			if (text.length() > 0) {
				send("{\"id\":" + openId + ",\"part\":\"" + part + "\",\"rows\":[" + text + "]}");
				text.setLength(0);
			}
		}
	}

	private void answer(Map<String, Object> question) throws IOException {
		task = new TaskMonitorAdapter(true);
		openId = number(question, "id");
		String op = (String) question.get("op");
		@SuppressWarnings("unchecked")
		Map<String, Object> args = (Map<String, Object>) question.getOrDefault("args", Map.of());
		String last;
		try {
			Map<String, Object> end = run(op, args);
			last = "\"end\":" + Json.write(end);
		}
		catch (IOException e) {
			throw e;
		}
		catch (Failure e) {
			last = "\"fail\":" + Json.write(row("code", e.code, "message", e.getMessage()));
		}
		catch (Exception e) {
			String code = task.isCancelled() ? "cancelled" : "failed";
			last = "\"fail\":" + Json.write(row("code", code, "message", String.valueOf(e)));
		}
		send("{\"id\":" + openId + "," + last + "}");
	}

	private Map<String, Object> run(String op, Map<String, Object> args) throws Exception {
		switch (op) {
			case "program":
				return program();
			case "procedures":
				return procedures();
			case "symbols":
				return symbols();
			case "texts":
				return texts();
			case "transfers":
				return transfers();
			case "body":
				return body(args);
			case "references":
				return references(args);
			case "instruction":
				return instruction(at(args, "address"));
			case "item":
				return item(args);
			case "decompile":
				return decompile(args);
			case "type_names":
				return typeNames();
			case "type":
				return type((String) args.get("name"));
			case "pcode":
				return pcode(args);
			case "annotate":
				return annotate(args);
			default:
				throw new Failure("unsupported", "no operation " + op);
		}
	}

	// Addresses.

	private Address address(long offset) {
		return currentProgram.getAddressFactory().getDefaultAddressSpace().getAddress(offset);
	}

	private Address at(Map<String, Object> args, String name) {
		return address(number(args, name));
	}

	private static long number(Map<String, Object> from, String name) {
		return ((Number) from.get(name)).longValue();
	}

	private static Unsigned offset(Address a) {
		return new Unsigned(a.getOffset());
	}

	/** Whether something is at a real address of the file's image. */
	private boolean real(Address a) {
		if (a == null || !a.isMemoryAddress()) {
			return false;
		}
		MemoryBlock block = currentProgram.getMemory().getBlock(a);
		return block != null && !MemoryBlock.EXTERNAL_BLOCK_NAME.equals(block.getName());
	}

	private static Map<String, Object> row(Object... pairs) {
		Map<String, Object> out = new LinkedHashMap<>();
		for (int i = 0; i < pairs.length; i += 2) {
			if (pairs[i + 1] != null) {
				out.put((String) pairs[i], pairs[i + 1]);
			}
		}
		return out;
	}

	private static Object yes(boolean value) {
		return value ? Boolean.TRUE : null;
	}

	private static String text(String s) {
		return s == null || s.isEmpty() ? null : s;
	}

	// Lists.

	private Map<String, Object> program() throws Exception {
		Listing listing = currentProgram.getListing();
		long blocks = 0;
		BasicBlockModel model = new BasicBlockModel(currentProgram);
		for (CodeBlockIterator it = model.getCodeBlocks(task); it.hasNext();) {
			it.next();
			blocks++;
		}
		long code = 0;
		long references = 0;
		for (InstructionIterator it = listing.getInstructions(true); it.hasNext();) {
			Instruction in = it.next();
			code += in.getLength();
			references += in.getReferencesFrom().length;
		}
		List<Object> memory = new ArrayList<>();
		for (MemoryBlock block : currentProgram.getMemory().getBlocks()) {
			if (real(block.getStart())) {
				memory.add(offset(block.getStart()));
				memory.add(new Unsigned(block.getEnd().getOffset() + 1));
			}
		}
		return row("language", currentProgram.getLanguageID().getIdAsString(), "compiler",
			currentProgram.getCompilerSpec().getCompilerSpecID().getIdAsString(), "image_base",
			offset(currentProgram.getImageBase()), "memory", memory, "instructions", listing.getNumInstructions(),
			"code_bytes", code, "blocks", blocks, "references", references);
	}

	private static String source(SourceType source) {
		if (source == SourceType.DEFAULT) {
			return "default";
		}
		if (source == SourceType.IMPORTED) {
			return "imported";
		}
		return source == SourceType.USER_DEFINED ? "user" : "analysis";
	}

	private static List<Object> ranges(AddressSetView set) {
		List<Object> out = new ArrayList<>();
		for (AddressRange range : set) {
			out.add(offset(range.getMinAddress()));
			out.add(new Unsigned(range.getMaxAddress().getOffset() + 1));
		}
		return out;
	}

	private Map<String, Object> procedures() throws Exception {
		Rows rows = new Rows("procedures");
		for (Function f : currentProgram.getFunctionManager().getFunctions(true)) {
			if (!real(f.getEntryPoint())) {
				continue;
			}
			Function target = f.isThunk() ? f.getThunkedFunction(true) : null;
			boolean outside = target != null && !real(target.getEntryPoint());
			rows.add(row("a", offset(f.getEntryPoint()), "n", f.getName(), "ns",
				f.getParentNamespace() == null || f.getParentNamespace().isGlobal() ? null
						: text(f.getParentNamespace().getName(true)),
				"s", source(f.getSymbol().getSource()), "r", ranges(f.getBody()), "t",
				target != null && !outside ? offset(target.getEntryPoint()) : null, "tx", yes(outside), "nr",
				yes(f.hasNoReturn())));
		}
		rows.flush();
		return row();
	}

	private Map<String, Object> symbols() throws Exception {
		Rows rows = new Rows("symbols");
		Listing listing = currentProgram.getListing();
		for (Symbol s : currentProgram.getSymbolTable().getAllSymbols(false)) {
			if (s.isExternal() || !real(s.getAddress())) {
				continue;
			}
			String kind = "label";
			if (s.getSymbolType() == SymbolType.FUNCTION) {
				kind = "function";
			}
			else if (s.getSymbolType() != SymbolType.LABEL) {
				continue; // parameters, namespaces and the like
			}
			else if (listing.getDefinedDataAt(s.getAddress()) != null) {
				kind = "data";
			}
			rows.add(row("a", offset(s.getAddress()), "n", s.getName(), "k", kind, "s", source(s.getSource()), "e",
				yes(s.isExternalEntryPoint())));
		}
		for (Symbol s : currentProgram.getSymbolTable().getExternalSymbols()) {
			imported(rows, s);
		}
		rows.flush();
		return row();
	}

	/** An import stands where the program reaches it: at its stub, else at its pointer. */
	private void imported(Rows rows, Symbol s) throws Exception {
		Address place = null;
		int uses = 0;
		if (s.getObject() instanceof Function) {
			Address[] thunks = ((Function) s.getObject()).getFunctionThunkAddresses(true);
			for (Address a : thunks == null ? new Address[0] : thunks) {
				if (real(a)) {
					place = place == null ? a : place;
					uses += currentProgram.getReferenceManager().getReferenceCountTo(a);
				}
			}
		}
		for (Reference r : s.getReferences(task)) {
			if (real(r.getFromAddress())) {
				place = place == null ? r.getFromAddress() : place;
				uses++;
			}
		}
		if (place == null) {
			return;
		}
		rows.add(row("a", offset(place), "n", s.getName(), "k",
			s.getSymbolType() == SymbolType.FUNCTION ? "function" : "label", "s", "imported", "i", true, "l",
			text(s.getParentNamespace().getName(true)), "u", uses));
	}

	private Map<String, Object> texts() throws Exception {
		Rows rows = new Rows("texts");
		ReferenceManager references = currentProgram.getReferenceManager();
		for (Data d : currentProgram.getListing().getDefinedData(true)) {
			if (!d.hasStringValue() || !real(d.getAddress())) {
				continue;
			}
			StringDataInstance s = StringDataInstance.getStringDataInstance(d);
			String charset = s.getCharsetName().toUpperCase();
			String encoding = "ascii";
			if (charset.startsWith("UTF-16")) {
				encoding = "utf16le";
			}
			else if (charset.startsWith("UTF-8")) {
				encoding = "utf8";
			}
			else if (charset.startsWith("UTF-32")) {
				continue;
			}
			String value = s.getStringValue();
			if (value == null) {
				continue;
			}
			int length = value.length() * 2;
			if (!encoding.equals("utf16le")) {
				byte[] stored = value.getBytes(StandardCharsets.UTF_8);
				length = Math.min(stored.length, s.getDataLength());
				if (encoding.equals("ascii") && stored.length > value.length()) {
					encoding = "utf8";
				}
			}
			int uses = 0;
			for (Reference r : references.getReferencesTo(d.getAddress())) {
				uses++;
			}
			rows.add(row("a", offset(d.getAddress()), "l", length, "e", encoding, "u", uses));
		}
		rows.flush();
		return row();
	}

	private Map<String, Object> transfers() throws Exception {
		Rows rows = new Rows("transfers");
		FunctionManager functions = currentProgram.getFunctionManager();
		for (InstructionIterator it = currentProgram.getListing().getInstructions(true); it.hasNext();) {
			Instruction in = it.next();
			FlowType flow = in.getFlowType();
			if (!flow.isCall() && !flow.isJump()) {
				continue;
			}
			Function own = functions.getFunctionContaining(in.getAddress());
			List<Object> to = new ArrayList<>();
			String name = null;
			Address slot = null;
			boolean leaves = false;
			for (Reference r : in.getReferencesFrom()) {
				RefType type = r.getReferenceType();
				if (type.isCall() || type.isJump()) {
					if (real(r.getToAddress())) {
						to.add(offset(r.getToAddress()));
						leaves |= own == null || !own.getBody().contains(r.getToAddress());
					}
					else {
						Symbol s = currentProgram.getSymbolTable().getPrimarySymbol(r.getToAddress());
						name = s == null ? name : s.getName();
					}
				}
				else if (real(r.getToAddress())) {
					slot = slot == null ? r.getToAddress() : slot;
				}
			}
			if (flow.isJump() && !flow.isComputed() && !leaves) {
				continue;
			}
			rows.add(row("a", offset(in.getAddress()), "c", yes(flow.isCall()), "x", yes(flow.isComputed()), "t",
				to.isEmpty() ? null : to, "i", name, "p", slot == null ? null : offset(slot), "o",
				flow.isComputed() ? operands(in) : null));
		}
		rows.flush();
		return row();
	}

	// One function.

	private Function function(Map<String, Object> args) throws Failure {
		Function f = currentProgram.getFunctionManager().getFunctionAt(at(args, "entry"));
		if (f == null) {
			throw new Failure("not_found", "no function starts there");
		}
		return f;
	}

	private Map<String, Object> body(Map<String, Object> args) throws Exception {
		Function f = function(args);
		List<?> want = (List<?>) args.get("want");
		Rows blocks = new Rows("blocks");
		long blockCount = 0;
		BasicBlockModel model = new BasicBlockModel(currentProgram);
		for (CodeBlockIterator it = model.getCodeBlocksContaining(f.getBody(), task); it.hasNext();) {
			CodeBlock block = it.next();
			blockCount++;
			if (want.contains("blocks")) {
				blocks.add(block(f, block));
			}
		}
		blocks.flush();
		Rows lines = new Rows("instructions");
		Rows outgoing = new Rows("outgoing");
		long count = 0;
		for (InstructionIterator it = currentProgram.getListing().getInstructions(f.getBody(), true); it.hasNext();) {
			Instruction in = it.next();
			count++;
			if (want.contains("instructions")) {
				lines.add(line(in));
			}
			if (want.contains("outgoing")) {
				for (Reference r : in.getReferencesFrom()) {
					reference(outgoing, r);
				}
			}
		}
		lines.flush();
		outgoing.flush();
		return row("blocks", blockCount, "instructions", count);
	}

	private Map<String, Object> block(Function f, CodeBlock block) throws Exception {
		long count = 0;
		for (InstructionIterator it = currentProgram.getListing().getInstructions(block, true); it.hasNext();) {
			it.next();
			count++;
		}
		List<CodeBlockReference> ways = new ArrayList<>();
		boolean conditional = false;
		for (CodeBlockReferenceIterator it = block.getDestinations(task); it.hasNext();) {
			CodeBlockReference way = it.next();
			if (!way.getFlowType().isCall() && f.getBody().contains(way.getDestinationAddress())) {
				ways.add(way);
				conditional |= way.getFlowType().isJump() && way.getFlowType().isConditional();
			}
		}
		List<Object> next = new ArrayList<>();
		for (CodeBlockReference way : ways) {
			FlowType type = way.getFlowType();
			String kind = "jump";
			if (type.isFallthrough()) {
				kind = conditional ? "not_taken" : "fallthrough";
			}
			else if (type.isComputed()) {
				kind = "table";
			}
			else if (type.isConditional()) {
				kind = "taken";
			}
			next.add(row("t", offset(way.getDestinationAddress()), "k", kind));
		}
		return row("a", offset(block.getFirstStartAddress()), "e",
			new Unsigned(block.getMaxAddress().getOffset() + 1), "n", count, "s", next);
	}

	private static String operands(Instruction in) {
		StringBuilder out = new StringBuilder();
		for (int i = 0; i < in.getNumOperands(); i++) {
			out.append(i == 0 ? "" : ", ").append(in.getDefaultOperandRepresentation(i));
		}
		return out.toString();
	}

	private static String flow(Instruction in) {
		FlowType flow = in.getFlowType();
		if (flow.isCall()) {
			return flow.isComputed() ? "indirect_call" : "call";
		}
		if (flow.isJump()) {
			if (flow.isComputed()) {
				return "indirect_jump";
			}
			return flow.isConditional() ? "conditional_jump" : "jump";
		}
		if (!flow.isTerminal()) {
			return "next";
		}
		for (PcodeOp op : in.getPcode()) {
			if (op.getOpcode() == PcodeOp.RETURN) {
				return "return";
			}
		}
		return "trap";
	}

	private Map<String, Object> line(Instruction in) {
		Address target = null;
		Address[] flows = in.getFlows();
		if (flows != null && flows.length == 1 && real(flows[0])) {
			target = flows[0];
		}
		for (Reference r : in.getReferencesFrom()) {
			if (target == null && real(r.getToAddress())) {
				target = r.getToAddress();
			}
		}
		return row("a", offset(in.getAddress()), "l", in.getLength(), "m", in.getMnemonicString(), "o", operands(in),
			"f", flow(in), "t", target == null ? null : offset(target));
	}

	private void reference(Rows rows, Reference r) throws Exception {
		RefType type = r.getReferenceType();
		if (!real(r.getFromAddress()) || !real(r.getToAddress()) || type.isFallthrough()) {
			return;
		}
		String kind = "data";
		if (type.isCall()) {
			kind = "call";
		}
		else if (type.isJump()) {
			kind = type.isComputed() ? "computed_jump" : "jump";
		}
		else if (type == RefType.INDIRECTION) {
			kind = "indirection";
		}
		else if (type.isRead() && type.isWrite()) {
			kind = "read_write";
		}
		else if (type.isWrite()) {
			kind = "write";
		}
		else if (type.isRead()) {
			kind = "read";
		}
		boolean code = currentProgram.getListing().getInstructionAt(r.getFromAddress()) != null;
		rows.add(row("a", offset(r.getFromAddress()), "t", offset(r.getToAddress()), "k", kind, "c", yes(code)));
	}

	private Map<String, Object> references(Map<String, Object> args) throws Exception {
		Rows rows = new Rows("references");
		ReferenceManager references = currentProgram.getReferenceManager();
		Address a = at(args, "address");
		if ("from".equals(args.get("direction"))) {
			for (Reference r : references.getReferencesFrom(a)) {
				reference(rows, r);
			}
		}
		else {
			for (Reference r : references.getReferencesTo(a)) {
				reference(rows, r);
			}
		}
		rows.flush();
		return row();
	}

	// The listing.

	private Map<String, Object> instruction(Address a) throws Exception {
		Instruction in = currentProgram.getListing().getInstructionAt(a);
		boolean defined = in != null;
		if (!defined) {
			try {
				in = new PseudoDisassembler(currentProgram).disassemble(a);
			}
			catch (Exception e) {
				in = null; // the bytes are no instruction
			}
		}
		if (in == null) {
			throw new Failure("not_found", "no instruction can be decoded there");
		}
		Map<String, Object> memory = null;
		String scalar = null;
		for (int i = 0; i < in.getNumOperands(); i++) {
			String shown = in.getDefaultOperandRepresentation(i);
			if (shown.contains("[")) {
				RefType type = in.getOperandRefType(i);
				String access = "address";
				if (type.isRead() && type.isWrite()) {
					access = "read_write";
				}
				else if (type.isWrite()) {
					access = "write";
				}
				else if (type.isRead() || type.isFlow() || type.isIndirect()) {
					access = "read";
				}
				Address target = null;
				for (Reference r : in.getOperandReferences(i)) {
					if (target == null && real(r.getToAddress())) {
						target = r.getToAddress();
					}
				}
				memory = row("text", shown, "access", access, "address", target == null ? null : offset(target));
				continue;
			}
			Scalar value = in.getScalar(i);
			if (value != null && in.getRegister(i) == null) {
				long v = value.getSignedValue();
				scalar = v < 0 ? "-0x" + Long.toHexString(-v) : "0x" + Long.toHexString(v);
			}
		}
		return row("line", line(in), "defined", defined, "read", registers(in.getInputObjects()), "written",
			registers(in.getResultObjects()), "memory", memory, "scalar", scalar);
	}

	private static List<Object> registers(Object[] objects) {
		List<Object> out = new ArrayList<>();
		for (Object o : objects) {
			if (o instanceof Register && !out.contains(((Register) o).getName())) {
				out.add(((Register) o).getName());
			}
		}
		return out;
	}

	private Map<String, Object> item(Map<String, Object> args) {
		Listing listing = currentProgram.getListing();
		Address a = at(args, "address");
		boolean forward = number(args, "step") > 0;
		CodeUnit unit = forward ? listing.getDefinedCodeUnitAfter(a) : listing.getDefinedCodeUnitBefore(a);
		while (unit != null && !real(unit.getAddress())) {
			unit = forward ? listing.getDefinedCodeUnitAfter(unit.getAddress())
					: listing.getDefinedCodeUnitBefore(unit.getAddress());
		}
		if (unit == null) {
			return row();
		}
		String kind = "data";
		if (unit instanceof Instruction) {
			kind = "instruction";
		}
		else if (unit instanceof Data && ((Data) unit).hasStringValue()) {
			kind = "string";
		}
		return row("address", offset(unit.getAddress()), "kind", kind);
	}

	// The decompiler.

	private DecompileResults results(Map<String, Object> args) throws Failure {
		if (decompiler == null) {
			DecompileOptions options = new DecompileOptions();
			options.grabFromProgram(currentProgram);
			decompiler = new DecompInterface();
			decompiler.setOptions(options);
			decompiler.toggleCCode(true);
			decompiler.toggleSyntaxTree(true);
			decompiler.setSimplificationStyle("decompile");
			if (!decompiler.openProgram(currentProgram)) {
				String message = decompiler.getLastMessage();
				decompiler.dispose();
				decompiler = null;
				throw new Failure("failed", "the decompiler does not open the program: " + message);
			}
		}
		DecompileResults r = decompiler.decompileFunction(function(args), (int) number(args, "seconds"), task);
		if (r.isTimedOut()) {
			throw new Failure("timed_out", "the decompiler ran out of time");
		}
		if (!r.decompileCompleted() || r.getHighFunction() == null) {
			throw new Failure(task.isCancelled() ? "cancelled" : "failed", String.valueOf(r.getErrorMessage()).trim());
		}
		return r;
	}

	private Map<String, Object> decompile(Map<String, Object> args) throws Exception {
		DecompileResults r = results(args);
		HighFunction high = r.getHighFunction();
		List<Object> variables = new ArrayList<>();
		for (Iterator<HighSymbol> it = high.getLocalSymbolMap().getSymbols(); it.hasNext();) {
			HighSymbol s = it.next();
			variables.add(row("name", s.getName(), "type",
				s.getDataType() == null ? null : s.getDataType().getDisplayName(), "location",
				s.getStorage() == null ? null : text(s.getStorage().toString()), "parameter", yes(s.isParameter())));
		}
		String message = text(r.getErrorMessage() == null ? null : r.getErrorMessage().trim());
		return row("text", r.getDecompiledFunction().getC(), "signature", r.getDecompiledFunction().getSignature(),
			"return", high.getFunctionPrototype().getReturnType().getDisplayName(), "convention",
			text(high.getFunctionPrototype().getModelName()), "variables", variables, "warnings",
			message == null ? null : List.of(message));
	}

	private Map<String, Object> pcode(Map<String, Object> args) throws Exception {
		HighFunction high = results(args).getHighFunction();
		Rows varnodes = new Rows("varnodes");
		Rows ops = new Rows("ops");
		Map<Object, Integer> ids = new HashMap<>();
		ArrayDeque<Object> rows = new ArrayDeque<>();
		for (Iterator<PcodeOpAST> it = high.getPcodeOps(); it.hasNext();) {
			PcodeOpAST op = it.next();
			List<Object> in = new ArrayList<>();
			for (Varnode v : op.getInputs()) {
				in.add(varnode(varnodes, ids, v));
			}
			int out = op.getOutput() == null ? -1 : varnode(varnodes, ids, op.getOutput());
			rows.add(row("a", offset(op.getSeqnum().getTarget()), "c", op.getMnemonic(), "o", out, "n", in));
		}
		varnodes.flush();
		for (Object r : rows) {
			ops.add(r);
		}
		ops.flush();
		return row();
	}

	private int varnode(Rows rows, Map<Object, Integer> ids, Varnode v) throws Exception {
		Object key = v instanceof VarnodeAST ? (Object) ((VarnodeAST) v).getUniqueId() : v;
		Integer known = ids.get(key);
		if (known != null) {
			return known;
		}
		int id = ids.size();
		ids.put(key, id);
		String space = "ram";
		if (v.isConstant()) {
			space = "const";
		}
		else if (v.isRegister()) {
			space = "register";
		}
		else if (v.isUnique()) {
			space = "unique";
		}
		else if (v.getAddress().isStackAddress()) {
			space = "stack";
		}
		Register register = v.isRegister() ? currentProgram.getRegister(v) : null;
		rows.add(row("i", id, "s", space, "o", new Unsigned(v.getOffset()), "z", v.getSize(), "r",
			register == null ? null : register.getName(), "v",
			v.getHigh() == null ? null : text(v.getHigh().getName()), "in", yes(v.isInput())));
		return id;
	}

	// Data types.

	private Map<String, Object> typeNames() throws Exception {
		Rows rows = new Rows("type_names");
		for (Iterator<DataType> it = currentProgram.getDataTypeManager().getAllDataTypes(); it.hasNext();) {
			rows.add(it.next().getName());
		}
		rows.flush();
		return row();
	}

	private Map<String, Object> type(String name) throws Exception {
		for (Iterator<DataType> it = currentProgram.getDataTypeManager().getAllDataTypes(); it.hasNext();) {
			DataType t = it.next();
			if (t.getName().equals(name)) {
				return describe(t);
			}
		}
		throw new Failure("not_found", "no data type has this name");
	}

	private Map<String, Object> describe(DataType t) {
		String kind = "other";
		String underlying = null;
		List<Object> members = new ArrayList<>();
		if (t instanceof Composite) {
			kind = t instanceof Structure ? "struct" : "union";
			for (DataTypeComponent c : ((Composite) t).getDefinedComponents()) {
				DataType of = c.getDataType();
				members.add(row("name", c.getFieldName() == null ? c.getDefaultFieldName() : c.getFieldName(), "type",
					of.getDisplayName(), "offset", c.getOffset(), "bits",
					of instanceof BitFieldDataType ? ((BitFieldDataType) of).getBitSize() : null));
			}
		}
		else if (t instanceof ghidra.program.model.data.Enum) {
			kind = "enum";
			ghidra.program.model.data.Enum e = (ghidra.program.model.data.Enum) t;
			for (String n : e.getNames()) {
				members.add(row("name", n, "value", e.getValue(n)));
			}
		}
		else if (t instanceof TypeDef) {
			kind = "typedef";
			underlying = ((TypeDef) t).getDataType().getDisplayName();
		}
		else if (t instanceof Pointer) {
			kind = "pointer";
			underlying = ((Pointer) t).getDataType() == null ? null : ((Pointer) t).getDataType().getDisplayName();
		}
		else if (t instanceof Array) {
			kind = "array";
			underlying = ((Array) t).getDataType().getDisplayName();
		}
		else if (t instanceof FunctionDefinition) {
			kind = "function";
			underlying = ((FunctionDefinition) t).getPrototypeString();
		}
		else if (t instanceof BuiltInDataType) {
			kind = "base";
		}
		return row("name", t.getName(), "kind", kind, "size", t.getLength() < 0 ? null : t.getLength(), "underlying",
			text(underlying), "members", members, "source", t.getPathName());
	}

	// Annotations.

	private Map<String, Object> annotate(Map<String, Object> args) throws Exception {
		List<Object> previous = new ArrayList<>();
		List<?> changes = (List<?>) args.get("changes");
		try {
			for (Object o : changes) {
				@SuppressWarnings("unchecked")
				Map<String, Object> change = (Map<String, Object>) o;
				previous.add(note(change));
				set(change, (String) change.get("value"));
			}
		}
		catch (Exception e) {
			// All or none: what was made is taken back, the last change first, and
			// begins with the one that failed, which may have been made in part.
			for (int i = previous.size() - 1; i >= 0; i--) {
				@SuppressWarnings("unchecked")
				Map<String, Object> change = (Map<String, Object>) changes.get(i);
				set(change, (String) previous.get(i));
			}
			throw new Failure("refused", String.valueOf(e.getMessage()));
		}
		return row("previous", previous);
	}

	private String note(Map<String, Object> change) {
		Address a = at(change, "address");
		switch ((String) change.get("kind")) {
			case "name":
				Function f = currentProgram.getFunctionManager().getFunctionAt(a);
				Symbol s = f != null ? f.getSymbol() : currentProgram.getSymbolTable().getPrimarySymbol(a);
				return s == null || s.getSource() == SourceType.DEFAULT ? null : s.getName();
			case "comment":
				return currentProgram.getListing().getComment(CommentType.PRE, a);
			case "inline":
				return currentProgram.getListing().getComment(CommentType.EOL, a);
			default:
				Bookmark b = currentProgram.getBookmarkManager().getBookmark(a, BOOKMARK_TYPE, BOOKMARK_CATEGORY);
				return b == null ? null : b.getComment();
		}
	}

	private void set(Map<String, Object> change, String value) throws Exception {
		Address a = at(change, "address");
		switch ((String) change.get("kind")) {
			case "name":
				name(a, value);
				return;
			case "comment":
				currentProgram.getListing().setComment(a, CommentType.PRE, value);
				return;
			case "inline":
				currentProgram.getListing().setComment(a, CommentType.EOL, value);
				return;
			default:
				BookmarkManager bookmarks = currentProgram.getBookmarkManager();
				Bookmark old = bookmarks.getBookmark(a, BOOKMARK_TYPE, BOOKMARK_CATEGORY);
				if (old != null) {
					bookmarks.removeBookmark(old);
				}
				if (value != null) {
					bookmarks.setBookmark(a, BOOKMARK_TYPE, BOOKMARK_CATEGORY, value);
				}
		}
	}

	private void name(Address a, String value) throws Exception {
		Function f = currentProgram.getFunctionManager().getFunctionAt(a);
		SymbolTable symbols = currentProgram.getSymbolTable();
		if (f != null) {
			f.setName(value, value == null ? SourceType.DEFAULT : SourceType.USER_DEFINED);
			return;
		}
		Symbol s = symbols.getPrimarySymbol(a);
		if (value == null) {
			if (s != null && s.getSource() != SourceType.DEFAULT) {
				s.delete();
			}
		}
		else if (s != null && s.getSource() != SourceType.DEFAULT) {
			s.setName(value, SourceType.USER_DEFINED);
		}
		else {
			symbols.createLabel(a, value, SourceType.USER_DEFINED).setPrimary();
		}
	}

	/** A number that is written without a sign. */
	private static final class Unsigned {
		final long bits;

		Unsigned(long bits) {
			this.bits = bits;
		}

		@Override
		public String toString() {
			return Long.toUnsignedString(bits);
		}
	}

	/** As much JSON as the frames need. */
	private static final class Json {
		private final String text;
		private int at;

		private Json(String text) {
			this.text = text;
		}

		@SuppressWarnings("unchecked")
		static Map<String, Object> object(String text) {
			return (Map<String, Object>) new Json(text).value(0);
		}

		private char peek() {
			while (at < text.length() && text.charAt(at) <= ' ') {
				at++;
			}
			return at < text.length() ? text.charAt(at) : 0;
		}

		private void expect(char c) {
			if (peek() != c) {
				throw new IllegalArgumentException("expected " + c + " at " + at);
			}
			at++;
		}

		private boolean more(char close) {
			if (peek() == close) {
				at++;
				return false;
			}
			return true;
		}

		private Object value(int depth) {
			if (depth > 64) {
				throw new IllegalArgumentException("nested too deep");
			}
			switch (peek()) {
				case '{':
					at++;
					Map<String, Object> map = new LinkedHashMap<>();
					for (boolean more = more('}'); more;) {
						peek();
						String name = string();
						expect(':');
						map.put(name, value(depth + 1));
						more = more('}');
						if (more) {
							expect(',');
						}
					}
					return map;
				case '[':
					at++;
					List<Object> list = new ArrayList<>();
					for (boolean more = more(']'); more;) {
						list.add(value(depth + 1));
						more = more(']');
						if (more) {
							expect(',');
						}
					}
					return list;
				case '"':
					return string();
				default:
					int start = at;
					while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
						at++;
					}
					String word = text.substring(start, at);
					switch (word) {
						case "true":
							return Boolean.TRUE;
						case "false":
							return Boolean.FALSE;
						case "null":
							return null;
						default:
							return word.startsWith("-") ? Long.parseLong(word) : Long.parseUnsignedLong(word);
					}
			}
		}

		private String string() {
			expect('"');
			StringBuilder out = new StringBuilder();
			for (;;) {
				char c = text.charAt(at++);
				if (c == '"') {
					return out.toString();
				}
				if (c != '\\') {
					out.append(c);
					continue;
				}
				c = text.charAt(at++);
				int simple = "bfnrt".indexOf(c);
				if (c == 'u') {
					out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
					at += 4;
				}
				else {
					out.append(simple < 0 ? c : "\b\f\n\r\t".charAt(simple));
				}
			}
		}

		static String write(Object value) {
			StringBuilder out = new StringBuilder();
			append(out, value);
			return out.toString();
		}

		static void append(StringBuilder out, Object value) {
			if (value == null || value instanceof Number || value instanceof Boolean || value instanceof Unsigned) {
				out.append(value);
			}
			else if (value instanceof Map) {
				out.append('{');
				String comma = "";
				for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
					out.append(comma);
					comma = ",";
					quote(out, String.valueOf(e.getKey()));
					out.append(':');
					append(out, e.getValue());
				}
				out.append('}');
			}
			else if (value instanceof List) {
				out.append('[');
				String comma = "";
				for (Object o : (List<?>) value) {
					out.append(comma);
					comma = ",";
					append(out, o);
				}
				out.append(']');
			}
			else {
				quote(out, value.toString());
			}
		}

		private static void quote(StringBuilder out, String s) {
			out.append('"');
			for (int i = 0; i < s.length(); i++) {
				char c = s.charAt(i);
				if (c == '"' || c == '\\') {
					out.append('\\').append(c);
				}
				else if (c < ' ') {
					out.append(String.format("\\u%04x", (int) c));
				}
				else {
					out.append(c);
				}
			}
			out.append('"');
		}
	}
}
