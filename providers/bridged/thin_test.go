package bridged

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"rea/runtime/engine"
)

// thinFile is the header of a Mach-O executable without load commands.
func thinFile(cpu uint32) []byte {
	var b []byte
	for _, word := range []uint32{0xfeedfacf, cpu, 0, 2, 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return b
}

func TestThin(t *testing.T) {
	const intel, arm = 0x01000007, 0x0100000c
	fat := binary.BigEndian.AppendUint32(nil, 0xcafebabe)
	fat = binary.BigEndian.AppendUint32(fat, 2)
	for i, cpu := range []uint32{intel, arm} {
		for _, word := range []uint32{cpu, 0, uint32(4096 * (i + 1)), 32, 12} {
			fat = binary.BigEndian.AppendUint32(fat, word)
		}
	}
	fat = append(fat, make([]byte, 3*4096-len(fat))...)
	copy(fat[4096:], thinFile(intel))
	copy(fat[8192:], thinFile(arm))
	both := []string{"x86_64", "arm64"}
	for slice, cpu := range map[string]uint32{"x86_64": intel, "arm64": arm} {
		got, err := Thin(&engine.Target{Data: fat, Slice: slice, Slices: both})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(thinFile(cpu))
		if !bytes.Equal(got.Data, thinFile(cpu)) || got.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("slice %s is % x", slice, got.Data)
		}
	}
	if _, err := Thin(&engine.Target{Data: fat, Slice: "ppc", Slices: both}); err == nil {
		t.Error("a slice that is not there")
	}
	whole := &engine.Target{Data: thinFile(intel), SHA256: "digest"}
	if got, err := Thin(whole); err != nil || !bytes.Equal(got.Data, whole.Data) || got.SHA256 != "digest" {
		t.Errorf("a thin file: %v, %v", got, err)
	}
}
