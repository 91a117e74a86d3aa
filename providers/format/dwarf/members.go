package dwarf

import "strconv"

// fieldReader collects the members of one type.
type fieldReader struct {
	d        *Data
	u        *unit
	t        *Type
	enumSize uint64
	variant  string // discriminant value of the variant being read
	inside   int    // depth of the variant part being read, 0 outside
}

// child reads one entry below the type. Members lie at depth 1, those of
// variants deeper inside a variant part.
func (b *fieldReader) child(parent uint32, k *entry) {
	if b.inside > 0 && k.depth <= b.inside {
		b.inside, b.variant = 0, ""
	}
	switch {
	case k.tag == tagVariantPart && k.depth == 1:
		b.inside = k.depth
		return
	case b.inside > 0 && k.tag == tagVariant && k.depth == b.inside+1:
		b.variant = "default"
		if v := k.get(atDiscrValue); v.ok {
			b.variant = strconv.FormatUint(v.u, 10)
		}
		return
	case b.inside > 0 && k.tag == tagMember && k.depth == b.inside+2:
		b.member(k, b.variant)
		return
	case b.inside > 0 && k.tag == tagMember && k.depth == b.inside+1: // the discriminant itself
		b.member(k, "")
		return
	case k.depth != 1:
		return
	}
	switch k.tag {
	case tagMember:
		if !k.flag(atExternal) && !k.flag(atDeclaration) { // not a static member
			b.member(k, "")
		}
	case tagInheritance:
		b.member(k, "")
		b.t.Fields[len(b.t.Fields)-1].Base = true
	case tagEnumerator:
		v := k.get(atConstValue)
		b.t.Enumerators = append(b.t.Enumerators, Enumerator{Name: clip(b.d.str(b.u, k.get(atName))), Value: int64(v.u)})
	case tagSubrangeType:
		if n, ok := dimension(b.u, k); ok && parent == tagArrayType && n < 1<<48 {
			if !b.t.HasCount {
				b.t.Count, b.t.HasCount = n, true
			} else if b.t.Count < 1<<15 {
				b.t.Count *= n
			}
		}
	}
}

func (b *fieldReader) member(k *entry, variant string) {
	f := Field{Name: clip(b.d.str(b.u, k.get(atName))), Variant: variant}
	target := k.get(atType)
	f.Type = b.d.typeOf(b.u, target)
	if r, ok := b.d.reference(b.u, target); ok {
		f.Size, _ = b.d.sizeOf(r)
	}
	f.Offset, f.HasOffset = b.d.memberOffset(k.get(atDataMemberLocation))
	if !f.HasOffset && b.t.Kind == KindUnion {
		f.HasOffset = true
	}
	if bits := k.get(atBitSize); bits.ok {
		f.BitSize = bits.u
		if at := k.get(atDataBitOffset); at.ok {
			f.BitOffset = at.u
			f.Offset, f.HasOffset = at.u/8, true
		} else if old := k.get(atBitOffset); old.ok {
			// Counted from the most significant bit of a storage unit.
			storage := f.Size
			if s := k.get(atByteSize); s.ok {
				storage = s.u
			}
			if b.d.im.BigEndian {
				f.BitOffset = 8*f.Offset + old.u
			} else {
				f.BitOffset = 8*f.Offset + 8*storage - f.BitSize - old.u
			}
		} else {
			f.BitOffset = 8 * f.Offset
		}
	}
	b.t.Fields = append(b.t.Fields, f)
}

// sizeOf finds the size of a type, through typedefs and qualifiers, and of
// arrays through their elements.
func (d *Data) sizeOf(r Ref) (uint64, bool) {
	count := uint64(1)
	for range maxTypeDepth {
		u, e, w, ok := d.at(r)
		if !ok {
			return 0, false
		}
		if size := e.get(atByteSize); size.ok && size.b == nil {
			return size.u * count, size.u < 1<<40
		}
		tag, target := e.tag, e.get(atType)
		switch tag {
		case tagPointerType, tagReferenceType, tagRvalueReference:
			return uint64(u.addrSize) * count, true
		case tagStructureType, tagClassType, tagUnionType:
			if sig := e.get(atSignature); sig.ok {
				target = sig
			}
		case tagArrayType:
			kids := e.kids
			for steps := 0; kids && steps < 64; steps++ {
				k, ok := w.next()
				if !ok || k.depth < 1 {
					break
				}
				if k.depth != 1 || k.tag != tagSubrangeType {
					continue
				}
				n, ok := dimension(u, k)
				if !ok || n > 1<<32 || count > 1<<24 {
					return 0, false
				}
				count *= n
			}
		}
		if r, ok = d.reference(u, target); !ok {
			return 0, false
		}
	}
	return 0, false
}
