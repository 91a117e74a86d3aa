package x86

import (
	"bufio"
	"debug/elf"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"rea/providers/embedded/isa"
)

// TestLLVM compares lengths and mnemonics with a second disassembler, whose
// tables have another origin than those of binutils.
func TestLLVM(t *testing.T) {
	var tool string
	for _, name := range []string{"llvm-objdump", "llvm-objdump-19", "llvm-objdump-15", "llvm-objdump-14"} {
		if p, err := exec.LookPath(name); err == nil {
			tool = p
			break
		}
	}
	if tool == "" {
		t.Skip("llvm-objdump is not installed")
	}
	for _, path := range programs(t, elf.EM_X86_64) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			sec := f.Section(".text")
			code, err := sec.Data()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), tool, "-d", "-j", ".text", "--x86-asm-syntax=intel", "--no-show-raw-insn", path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d := New(64)
			n, lengths, mnemonics := 0, 0, 0
			kinds := map[string]bool{}
			var last uint64
			var lastText string
			scan := bufio.NewScanner(out)
			for scan.Scan() {
				head, text, ok := strings.Cut(scan.Text(), ":")
				addr, err := strconv.ParseUint(strings.TrimSpace(head), 16, 64)
				if !ok || err != nil || strings.HasPrefix(text, " <") {
					continue
				}
				text = strings.TrimSpace(text)
				if last != 0 && lastText != "" && !strings.Contains(lastText, "unknown") {
					n++
					var in isa.Inst
					off := last - sec.Addr
					d.Decode(code[off:], last, &in)
					prefix := prefixWord(lastText)
					if uint64(in.Len) != addr-last && !prefix {
						lengths++
						if lengths < 10 {
							t.Logf("length %d at %x: %s", in.Len, last, lastText)
						}
					} else if !prefix {
						mnemonic, _ := d.Text(code[off:], last, nil)
						if ours, theirs := plain(mnemonic), plain(lastText); ours != theirs && !kinds[ours+" "+theirs] {
							kinds[ours+" "+theirs] = true
							mnemonics++
							t.Logf("mnemonic %s at %x: %s", ours, last, lastText)
						}
					}
				}
				last, lastText = addr, text
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d instructions, %d lengths and %d kinds of mnemonics differ", n, lengths, mnemonics)
			if n < 10_000 || lengths > n/allowed(path) || mnemonics > 40 {
				t.Error("too much disagreement")
			}
		})
	}
}

// prefixWord reports whether the other disassembler lists a prefix alone.
func prefixWord(s string) bool {
	switch s {
	case "lock", "rep", "repne", "repe", "data16", "notrack", "bnd", "cs", "ds", "es", "ss", "fs", "gs", "wait":
		return true
	}
	return strings.HasPrefix(s, "rex")
}

// plain is a mnemonic without prefixes, in one spelling.
func plain(s string) string {
	for _, w := range strings.Fields(s) {
		switch w {
		case "lock", "rep", "repz", "repnz", "repne", "repe", "data16", "notrack", "bnd", "cs", "ds", "es", "ss", "fs", "gs", "xacquire", "xrelease", "addr32":
			continue
		}
		if a, ok := llvmSpellings[w]; ok {
			return a
		}
		return w
	}
	return s
}

// llvmSpellings maps names that differ to one of them.
var llvmSpellings = map[string]string{
	"movabs": "mov", "wait": "fwait", "iretd": "iret", "movsb": "movs", "movsw": "movs", "movsq": "movs", "stosb": "stos", "stosw": "stos", "stosd": "stos", "stosq": "stos",
	"scasb": "scas", "scasw": "scas", "scasd": "scas", "scasq": "scas", "cmpsb": "cmps", "cmpsw": "cmps", "cmpsq": "cmps", "lodsb": "lods", "lodsw": "lods", "lodsd": "lods", "lodsq": "lods",
	"insb": "ins", "insw": "ins", "insd": "ins", "outsb": "outs", "outsw": "outs", "outsd": "outs", "xlatb": "xlat", "pushfq": "pushf", "popfq": "popf",
	"pclmullqlqdq": "pclmulqdq", "pclmulhqlqdq": "pclmulqdq", "pclmullqhqdq": "pclmulqdq", "pclmulhqhqdq": "pclmulqdq",
	"vpclmullqlqdq": "vpclmulqdq", "vpclmulhqlqdq": "vpclmulqdq", "vpclmullqhqdq": "vpclmulqdq", "vpclmulhqhqdq": "vpclmulqdq",
}
