package analysis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"rea/generated/model"
)

func TestPseudocodePagesNeverSplitACharacter(t *testing.T) {
	for _, tt := range []struct {
		name          string
		text          string
		offset, limit int64
		want          string
		at            int64
		next          int64 // -1: the end
	}{
		{"whole", "int x;", 0, 100, "int x;", 0, -1},
		{"exact", "abc", 0, 3, "abc", 0, -1},
		{"cut", "abcdef", 1, 2, "bc", 1, 3},
		{"pair_fits", "a😀b", 0, 3, "a😀", 0, 3},
		{"pair_does_not_fit", "a😀b", 0, 2, "a", 0, 1},
		{"begins_inside_of_a_pair", "a😀b", 2, 10, "😀b", 1, -1},
		{"pair_alone_is_given_whole", "😀b", 0, 1, "😀", 0, 2},
		{"two_bytes_are_one_unit", "äöü", 1, 1, "ö", 1, 2},
		{"behind_the_end", "abc", 3, 5, "", 3, -1},
		{"far_behind_the_end", "abc", 1 << 62, 5, "", 1 << 62, -1},
		{"empty", "", 0, 5, "", 0, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := cutUTF16(tt.text, tt.offset, tt.limit)
			next := int64(-1)
			if got.NextOffset != nil {
				next = *got.NextOffset
			}
			if got.Text != tt.want || got.Offset != tt.at || next != tt.next || got.TotalChars != int64(len(utf16.Encode([]rune(tt.text)))) {
				t.Errorf("%q at %d, next %d, total %d", got.Text, got.Offset, next, got.TotalChars)
			}
		})
	}
}

func TestPseudocodePagesJoin(t *testing.T) {
	text := strings.Repeat("x😀ü\n日", 50)
	for limit := int64(1); limit < 40; limit++ {
		var joined strings.Builder
		for offset := int64(0); ; {
			page := cutUTF16(text, offset, limit)
			joined.WriteString(page.Text)
			if page.NextOffset == nil {
				break
			}
			if *page.NextOffset <= offset {
				t.Fatalf("limit %d: no progress at %d", limit, offset)
			}
			offset = *page.NextOffset
		}
		if joined.String() != text {
			t.Fatalf("limit %d: pages do not join", limit)
		}
	}
}

// distance is the length of the shortest edit by dynamic programming.
func distance(l, r []string) int {
	common := make([][]int, len(l)+1)
	for i := range common {
		common[i] = make([]int, len(r)+1)
	}
	for i := range l {
		for j := range r {
			common[i+1][j+1] = max(common[i][j+1], common[i+1][j])
			if l[i] == r[j] {
				common[i+1][j+1] = common[i][j] + 1
			}
		}
	}
	return len(l) + len(r) - 2*common[len(l)][len(r)]
}

// replay applies edits to l.
func replay(l []string, edits []edit) []string {
	var out []string
	i := 0
	for _, e := range edits {
		if e.added {
			continue
		}
		for i < len(l) && l[i] != e.text {
			out = append(out, l[i])
			i++
		}
		i++
	}
	return append(out, l[min(i, len(l)):]...)
}

func TestShortestEdit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string { return string(rune('a' + rng.IntN(4))) }
	for range 2000 {
		var l, r []string
		for range rng.IntN(12) {
			l = append(l, word())
		}
		for range rng.IntN(12) {
			r = append(r, word())
		}
		edits, ok := shortestEdit(l, r)
		if !ok || len(edits) != distance(l, r) {
			t.Fatalf("%v → %v: %d edits %v, want %d", l, r, len(edits), edits, distance(l, r))
		}
		added, removed := 0, 0
		for _, e := range edits {
			if e.added {
				added++
			} else {
				removed++
			}
		}
		if len(l)-removed+added != len(r) {
			t.Fatalf("%v → %v: %v do not lead from one to the other", l, r, edits)
		}
		if kept := replay(l, edits); len(kept) != len(l)-removed {
			t.Fatalf("%v → %v: %v take away what is not there", l, r, edits)
		}
	}
}

func TestShortestEditGivesUp(t *testing.T) {
	l, r := make([]string, 5000), make([]string, 5000)
	for i := range l {
		l[i], r[i] = "l", "r"
	}
	if _, ok := shortestEdit(l, r); ok {
		t.Error("a distance of 10,000 was searched")
	}
	if edits, ok := shortestEdit(append(slices.Clone(l), "x"), append(slices.Clone(l), "y")); !ok || len(edits) != 2 {
		t.Errorf("one line of 5001 differs: %v", edits)
	}
}

func TestBagDifference(t *testing.T) {
	got := bagDifference([]string{"a", "b", "a", "c"}, []string{"c", "a", "d", "d"})
	want := []edit{{false, "b"}, {false, "a"}, {true, "d"}, {true, "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTopKeepsTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for size := 1; size < 20; size++ {
		best := newTop(size, func(a, b *int) int { return *b - *a })
		var all []int
		for range 200 {
			n := rng.IntN(1000)
			all = append(all, n)
			best.add(n)
		}
		slices.Sort(all)
		slices.Reverse(all)
		if !slices.Equal(best.sorted(), all[:size]) {
			t.Fatalf("size %d: %v, want %v", size, best.sorted(), all[:size])
		}
	}
}

func TestAssemblyWithoutAddresses(t *testing.T) {
	target := func(addr model.Address, name string) *model.SymbolRef {
		r := &model.SymbolRef{Address: addr}
		if name != "" {
			r.Name = &name
		}
		return r
	}
	for _, tt := range []struct {
		in   model.Instruction
		name string
		want string
	}{
		{model.Instruction{Mnemonic: "call", Operands: "0x401136", Target: target(0x401136, "f")}, "f", "f"},
		{model.Instruction{Mnemonic: "call", Operands: "0x401136 <sub_401136>", Target: target(0x401136, "sub_401136")}, "(unnamed)", "(unnamed)"},
		{model.Instruction{Mnemonic: "lea", Operands: "rdi, [0x404000 <v<int>>]", Target: target(0x404000, "v<int>")}, "v", "rdi, [v]"},
		{model.Instruction{Mnemonic: "mov", Operands: "dword ptr [0x404010 <v+0x10>], 0x7", Target: target(0x404010, "")}, "(unnamed)", "dword ptr [(unnamed)], 0x7"},
		{model.Instruction{Mnemonic: "call", Operands: "0x401136 <", Target: target(0x401136, "")}, "f", "f"},
		{model.Instruction{Mnemonic: "lea", Operands: "rdi, [rip + 0x2ff5]", Target: target(0x404000, "s")}, "s", "rdi, [rip + s]"},
		{model.Instruction{Mnemonic: "cmp", Operands: "dword ptr [rip - 0x10], 0x5", Target: target(0x404000, "s")}, "s", "dword ptr [rip + s], 0x5"},
		{model.Instruction{Mnemonic: "mov", Operands: "eax, dword ptr [0x404000]", Target: target(0x404000, "s")}, "s", "eax, dword ptr [s]"},
		{model.Instruction{Mnemonic: "add", Operands: "x0, x0, #0x10", Target: target(0x411010, "s")}, "s", "x0, x0, s"},
		{model.Instruction{Mnemonic: "adrp", Operands: "x0, 0x411000", Target: target(0x411010, "s")}, "s", "x0, s"},
		{model.Instruction{Mnemonic: "jmp", Operands: "rax", Target: target(0x401000, "f")}, "f", "rax ; f"},
	} {
		if got := withoutAddress(&tt.in, tt.name); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.in.Mnemonic, tt.in.Operands, got, tt.want)
		}
	}
	if !madeFrom("sub_401136", 0x401136) || !madeFrom("FUN_00401136", 0x401136) || madeFrom("f_401136x", 0x401136) {
		t.Error("names made from addresses are not told from others")
	}
}
