package dwarf

// Carrier is what carries values of a type by the calling conventions in use.
type Carrier uint8

const (
	// CarrierUnknown is for types whose registers more than their size and kind
	// decide: structures, arrays, complex and extended numbers.
	CarrierUnknown  Carrier = iota
	CarrierInteger          // one integer register: integers, pointers, references, enumerations
	CarrierFloating         // one floating-point register: float and double
	CarrierNone             // void
)

// Encodings of base types.
const encFloat, encComplex, encDecimal = 0x04, 0x03, 0x0f

// carrier follows a type to what it is made of.
func (d *Data) carrier(u *unit, a attribute) Carrier {
	for range chainLimit {
		if !a.ok {
			return CarrierNone
		}
		r, ok := d.reference(u, a)
		if !ok {
			return CarrierUnknown
		}
		var e *entry
		if u, e, _, ok = d.at(r); !ok {
			return CarrierUnknown
		}
		switch e.tag {
		case tagTypedef, tagConstType, tagVolatileType, tagRestrictType, tagAtomicType:
			a = e.get(atType)
		case tagPointerType, tagReferenceType, tagRvalueReference, tagEnumerationType:
			return CarrierInteger
		case tagBaseType:
			size := e.get(atByteSize).u
			switch enc := e.get(atEncoding).u; {
			case enc == encComplex, enc == encDecimal, size == 0, size > 8:
				return CarrierUnknown
			case enc == encFloat:
				if size < 4 {
					return CarrierUnknown
				}
				return CarrierFloating
			}
			return CarrierInteger
		default:
			return CarrierUnknown
		}
	}
	return CarrierUnknown
}
