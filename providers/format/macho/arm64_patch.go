package macho

import "encoding/binary"

// patchARM64 writes a target into the immediate of an instruction.
func patchARM64(order binary.ByteOrder, field []byte, typ byte, target, place uint64) {
	w := order.Uint32(field)
	switch typ {
	case relARM64Branch26:
		w = w&^0x03ffffff | uint32(int64(target-place)>>2)&0x03ffffff
	case relARM64Page21, relARM64GOTPage, relARM64TLVPage:
		v := uint32(int64(target&^0xfff-place&^0xfff) >> 12)
		w = w&0x9f00001f | v&3<<29 | v>>2&0x7ffff<<5
	case relARM64PageOff12, relARM64GOTOff, relARM64TLVOff:
		scale := uint32(0)
		if w&0x3b000000 == 0x39000000 { // load or store
			scale = w >> 30
			if w&0x04800000 == 0x04800000 {
				scale += 4 // 128-bit vector register
			}
		}
		w = w&^(0xfff<<10) | uint32(target)&0xfff>>scale<<10
	}
	order.PutUint32(field, w)
}
