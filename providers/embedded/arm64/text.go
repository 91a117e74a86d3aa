package arm64

import (
	"encoding/binary"
	"fmt"

	"rea/providers/embedded/isa"
)

// Text implements isa.Decoder.
func (d *Decoder) Text(b []byte, addr uint64, symbol func(uint64) string) (mnemonic, operands string) {
	var in isa.Inst
	d.Decode(b, addr, &in)
	if len(b) < 4 {
		return ".byte", fmt.Sprintf("%#x", b)
	}
	return ".inst", fmt.Sprintf("0x%08x", binary.LittleEndian.Uint32(b))
}
