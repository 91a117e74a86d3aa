package x86

// Text implements isa.Decoder.
func (d *Decoder) Text(b []byte, addr uint64, symbol func(uint64) string) (mnemonic, operands string) {
	var p printer
	return p.print(d, b, addr, symbol)
}
