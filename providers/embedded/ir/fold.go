package ir

// Fold is the result of an operation on known operands of at most 64 bits, of
// widths aBits and bBits, reduced to a width.
func Fold(op Op, bits, aBits uint16, a, b uint64, bBits uint16) uint64 {
	switch op {
	case Zext, Copy:
	case Sext:
		a = signed(a, aBits)
	case Extract:
		a >>= b
	default:
		a = fold(op, aBits, a, b, bBits)
	}
	return Constant(a, bits).N
}
