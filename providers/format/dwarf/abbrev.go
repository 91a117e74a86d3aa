package dwarf

// abbrevTable gives the shape of entries by their code.
type abbrevTable struct {
	dense  []abbrev // code i+1 at index i, as producers number them
	sparse map[uint64]*abbrev
}

type abbrev struct {
	tag      uint32
	children bool
	known    bool
	attrs    []attrSpec
}

type attrSpec struct {
	at, form uint32
	implicit int64
}

func (t *abbrevTable) get(code uint64) *abbrev {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return t.sparse[code]
}

// abbrevTable reads and keeps the table at an offset. Units share tables, and
// tables of a sound file do not overlap, so reading all costs the section's
// size; a budget stops files made to read it again and again. The caller holds
// the lock.
func (d *Data) abbrevTable(off uint64) *abbrevTable {
	if t, ok := d.abbrevs[off]; ok {
		return t
	}
	d.abbrevs[off] = nil
	if off >= uint64(len(d.sec.abbrev)) {
		return nil
	}
	c := cursor{b: d.sec.abbrev, off: off, order: d.order}
	if left := uint64(max(d.abbrevBudget, 0)); left < c.left() {
		c.b = c.b[:off+left]
	}
	t := &abbrevTable{sparse: map[uint64]*abbrev{}}
	var specs []attrSpec
	for {
		code := c.uleb()
		if code == 0 || c.bad {
			break
		}
		a := abbrev{tag: uint32(c.uleb()), children: c.u8() != 0, known: true}
		from := len(specs)
		for !c.bad {
			s := attrSpec{at: uint32(c.uleb()), form: uint32(c.uleb())}
			if s.form == formImplicitConst {
				s.implicit = c.sleb()
			}
			if s.at == 0 && s.form == 0 {
				break
			}
			specs = append(specs, s)
		}
		a.attrs = specs[from:len(specs):len(specs)]
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
		} else if _, dup := t.sparse[code]; !dup {
			t.sparse[code] = &a
		}
	}
	d.abbrevBudget -= int(c.off - off)
	d.abbrevs[off] = t
	return t
}
