package processor

import "testing"

// TestRun: samples see the state they are given, and faults are reported.
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		arch       string
		add, fault []byte
	}{
		{"amd64", []byte{0x48, 0x01, 0xc8, 0x48, 0x89, 0x03}, []byte{0x0f, 0x0b}},             // add rax, rcx; mov [rbx], rax
		{"arm64", []byte{0x00, 0x00, 0x01, 0x8b, 0x60, 0x00, 0x00, 0xf9}, []byte{0, 0, 0, 0}}, // add x0, x0, x1; str x0, [x3]
	} {
		t.Run(tt.arch, func(t *testing.T) {
			m := Start(t, tt.arch)
			var s Sample
			s.Regs[0], s.Regs[1], s.Regs[3], s.Regs[4], s.Regs[31] = 40, 2, MemoryAddress, MemoryAddress+256, MemoryAddress+256
			s.Len = uint64(copy(s.Code[:], tt.add))
			bad := s
			bad.Len = uint64(copy(bad.Code[:], tt.fault))
			out := m.Run(t, []Sample{s, bad, s})
			for _, i := range []int{0, 2} {
				if out[i].Signal != 0 || out[i].Regs[0] != 42 || out[i].Memory[0] != 42 {
					t.Errorf("run %d: signal %d, sum %d, stored %d", i, out[i].Signal, out[i].Regs[0], out[i].Memory[0])
				}
			}
			if out[1].Signal == 0 {
				t.Error("an undefined instruction ran")
			}
		})
	}
}
