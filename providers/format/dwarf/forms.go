package dwarf

// Attributes that are read.
const (
	atSibling, atLocation, atName, atByteSize, atBitOffset, atBitSize = 0x01, 0x02, 0x03, 0x0b, 0x0c, 0x0d
	atStmtList, atLowPC, atHighPC, atLanguage, atDiscrValue           = 0x10, 0x11, 0x12, 0x13, 0x16
	atCompDir, atConstValue, atUpperBound, atAbstractOrigin           = 0x1b, 0x1c, 0x2f, 0x31
	atArtificial, atCount, atDataMemberLocation, atDeclFile           = 0x34, 0x37, 0x38, 0x3a
	atDeclLine, atDeclaration, atEncoding, atExternal                 = 0x3b, 0x3c, 0x3e, 0x3f
	atSpecification, atType, atEntryPC, atRanges                      = 0x47, 0x49, 0x52, 0x55
	atDataBitOffset, atLinkageName, atSignature, atStrOffsetsBase     = 0x6b, 0x6e, 0x69, 0x72
	atAddrBase, atRnglistsBase, atNoReturn, atAlignment               = 0x73, 0x74, 0x87, 0x88
	atMIPSLinkageName, atLowerBound, atVariableParameter              = 0x2007, 0x22, 0x4b
)

// Forms.
const (
	formAddr, formBlock2, formBlock4, formData2, formData4, formData8 = 0x01, 0x03, 0x04, 0x05, 0x06, 0x07
	formString, formBlock, formBlock1, formData1, formFlag, formSdata = 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d
	formStrp, formUdata, formRefAddr, formRef1, formRef2, formRef4    = 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13
	formRef8, formRefUdata, formIndirect, formSecOffset, formExprloc  = 0x14, 0x15, 0x16, 0x17, 0x18
	formFlagPresent, formStrx, formAddrx, formRefSup4, formStrpSup    = 0x19, 0x1a, 0x1b, 0x1c, 0x1d
	formData16, formLineStrp, formRefSig8, formImplicitConst          = 0x1e, 0x1f, 0x20, 0x21
	formLoclistx, formRnglistx, formRefSup8                           = 0x22, 0x23, 0x24
	formStrx1, formStrx2, formStrx3, formStrx4                        = 0x25, 0x26, 0x27, 0x28
	formAddrx1, formAddrx2, formAddrx3, formAddrx4                    = 0x29, 0x2a, 0x2b, 0x2c
	formGNUAddrIndex, formGNUStrIndex, formGNURefAlt, formGNUStrpAlt  = 0x1f01, 0x1f02, 0x1f20, 0x1f21
)

// attribute is one value as written. u is the number, offset or index, or for
// inline strings and blocks the place of their first byte; b is a block.
type attribute struct {
	ok   bool
	form uint32
	u    uint64
	b    []byte
}

// entry is one debugging information entry.
type entry struct {
	ref   Ref
	depth int
	tag   uint32
	kids  bool
	specs []attrSpec
	vals  []attribute
}

func (e *entry) get(at uint32) attribute {
	for i := range e.specs {
		if e.specs[i].at == at {
			return e.vals[i]
		}
	}
	return attribute{}
}

func (e *entry) flag(at uint32) bool { return e.get(at).u != 0 }

// walker reads entries in the order they are written. The entry it returns is
// overwritten by the next one.
type walker struct {
	c     cursor
	u     *unit
	mark  Ref
	depth int
	e     entry
}

// maxDepth bounds how deep entries nest.
const maxDepth = 512

func (d *Data) walk(u *unit, at Ref) *walker {
	return &walker{c: cursor{b: u.data[:u.end&^typesBit], off: uint64(at &^ typesBit), order: d.order}, u: u, mark: at & typesBit}
}

// next returns the next entry, or false at the end of the unit or where it
// can't be read on.
func (w *walker) next() (*entry, bool) {
	for {
		at := w.c.off
		if w.c.left() == 0 {
			return nil, false
		}
		code := w.c.uleb()
		if w.c.bad {
			return nil, false
		}
		if code == 0 {
			w.depth--
			if w.depth < 0 {
				return nil, false
			}
			continue
		}
		a := w.u.abbrevs.get(code)
		if a == nil || w.depth >= maxDepth {
			return nil, false
		}
		e := &w.e
		e.ref, e.depth, e.tag, e.kids, e.specs = w.mark|Ref(at), w.depth, a.tag, a.children, a.attrs
		if cap(e.vals) < len(a.attrs) {
			e.vals = make([]attribute, len(a.attrs)+8)
		}
		e.vals = e.vals[:len(a.attrs)]
		for i := range a.attrs {
			w.value(&a.attrs[i], &e.vals[i])
		}
		if w.c.bad {
			return nil, false
		}
		if a.children {
			w.depth++
		}
		return e, true
	}
}

// value reads one attribute.
func (w *walker) value(s *attrSpec, a *attribute) {
	c, u := &w.c, w.u
	a.ok, a.form, a.b = true, s.form, nil
	if a.form == formIndirect {
		a.form = uint32(c.uleb())
		if a.form == formIndirect || a.form == formImplicitConst {
			c.fail()
			return
		}
	}
	switch a.form {
	case formAddr:
		a.u = c.fixed(u.addrSize)
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		a.u = uint64(c.u8())
	case formData2, formRef2, formStrx2, formAddrx2:
		a.u = uint64(c.u16())
	case formStrx3, formAddrx3:
		a.u = uint64(c.u24())
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		a.u = uint64(c.u32())
	case formData8, formRef8, formRefSig8, formRefSup8:
		a.u = c.u64()
	case formSdata:
		a.u = uint64(c.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		a.u = c.uleb()
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		a.u = c.offset(u.wide)
	case formRefAddr:
		if u.version <= 2 {
			a.u = c.fixed(u.addrSize)
		} else {
			a.u = c.offset(u.wide)
		}
	case formString:
		a.u = c.off
		c.skipText()
	case formFlagPresent:
		a.u = 1
	case formImplicitConst:
		a.u = uint64(s.implicit)
	case formBlock1:
		a.b = c.bytes(uint64(c.u8()))
	case formBlock2:
		a.b = c.bytes(uint64(c.u16()))
	case formBlock4:
		a.b = c.bytes(uint64(c.u32()))
	case formBlock, formExprloc:
		a.b = c.bytes(c.uleb())
	case formData16:
		a.b = c.bytes(16)
	default:
		c.fail()
	}
}

// str resolves a string attribute.
func (d *Data) str(u *unit, a attribute) string {
	if !a.ok {
		return ""
	}
	switch a.form {
	case formString:
		return textAt(u.data, a.u)
	case formStrp:
		return textAt(d.sec.str, a.u)
	case formLineStrp:
		return textAt(d.sec.lineStr, a.u)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if a.u > uint64(len(d.sec.strOffsets)) {
			return ""
		}
		c := cursor{b: d.sec.strOffsets, off: u.strOffsetsBase + a.u*size, order: d.order}
		if off := c.offset(u.wide); !c.bad {
			return textAt(d.sec.str, off)
		}
	}
	return ""
}

// address resolves an address attribute.
func (d *Data) address(u *unit, a attribute) (uint64, bool) {
	if !a.ok {
		return 0, false
	}
	switch a.form {
	case formAddr:
		return a.u, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return d.indexed(u, a.u)
	}
	return 0, false
}

// indexed reads entry i of the unit's address table.
func (d *Data) indexed(u *unit, i uint64) (uint64, bool) {
	if i > uint64(len(d.sec.addr)) {
		return 0, false
	}
	c := cursor{b: d.sec.addr, off: u.addrBase + i*uint64(u.addrSize), order: d.order}
	v := c.fixed(u.addrSize)
	return v, !c.bad
}

// reference resolves a reference attribute to an entry.
func (d *Data) reference(u *unit, a attribute) (Ref, bool) {
	if !a.ok {
		return 0, false
	}
	switch a.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		r := u.start + Ref(a.u)
		return r, r > u.start && r < u.end
	case formRefAddr:
		return Ref(a.u), a.u < uint64(len(d.sec.info))
	case formRefSig8:
		return d.bySignature(a.u)
	}
	return 0, false
}

// bySignature finds the type that a type unit describes.
func (d *Data) bySignature(sig uint64) (Ref, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.signatures == nil {
		d.signatures = map[uint64]Ref{}
		for _, u := range d.units {
			if u.kind == utType || u.kind == utSplitType {
				d.signatures[u.signature] = u.typeRef
			}
		}
	}
	r, ok := d.signatures[sig]
	return r, ok
}

// at reads the entry a reference points to.
func (d *Data) at(r Ref) (*unit, *entry, *walker, bool) {
	u := d.unitOf(r)
	if u == nil || !d.prepare(u) || r < u.root {
		return nil, nil, nil, false
	}
	w := d.walk(u, r)
	e, ok := w.next()
	if !ok || e.ref != r {
		return nil, nil, nil, false
	}
	return u, e, w, true
}
