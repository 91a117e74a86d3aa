package pe

import "fmt"

// richProducts names the tools of the Visual C++ 2015 and later generation;
// they share their numbers and differ in the build.
var richProducts = map[uint16]string{
	0x0001: "imports", 0x00ff: "Cvtres", 0x0100: "Export", 0x0101: "Implib", 0x0102: "Linker", 0x0103: "Masm",
	0x0104: "C", 0x0105: "C++", 0x0106: "C from CIL", 0x0107: "C++ from CIL", 0x0108: "C, link-time code generation",
	0x0109: "C++, link-time code generation", 0x010a: "MSIL, link-time code generation",
	0x010b: "C, profile instrumented", 0x010c: "C++, profile instrumented",
	0x010d: "C, profile optimized", 0x010e: "C++, profile optimized",
}

// rich reads the record that Microsoft's linker leaves between the DOS stub and
// the PE header: which tool builds made how many of the linked objects.
func (l *loader) rich(pe uint64) {
	end := -1
	for i := 64; i+8 <= int(min(pe, 1<<12)); i += 4 {
		if string(l.data[i:i+4]) == "Rich" {
			end = i
			break
		}
	}
	if end < 0 {
		return
	}
	key := le.Uint32(l.data[end+4:])
	const danS = 0x536e6144
	start := -1
	for i := end - 4; i >= 64; i -= 4 {
		if le.Uint32(l.data[i:])^key == danS {
			start = i + 16
			break
		}
	}
	if start < 0 {
		l.im.Note("Rich header without a beginning")
		return
	}
	for i := start; i+8 <= end; i += 8 {
		id, count := le.Uint32(l.data[i:])^key, le.Uint32(l.data[i+4:])^key
		product, build := uint16(id>>16), uint16(id)
		name, ok := richProducts[product]
		if !ok {
			name = fmt.Sprintf("product %#04x", product)
		}
		l.im.Compiler = append(l.im.Compiler, fmt.Sprintf("Rich: %s build %d, %d objects", name, build, count))
	}
}
