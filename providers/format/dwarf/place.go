package dwarf

import "fmt"

// Operations of location expressions that name one plain place.
const (
	opAddr, opReg0, opReg31, opBreg0, opBreg31 = 0x03, 0x50, 0x6f, 0x70, 0x8f
	opRegx, opFbreg, opBregx, opAddrx          = 0x90, 0x91, 0x92, 0xa1
	opCallFrameCFA, opPlusUconst, opConstu     = 0x9c, 0x23, 0x10
)

// place describes a location expression of a single operation. Location lists
// and computed places give "".
func (d *Data) place(u *unit, a attribute) string {
	if !a.ok || len(a.b) == 0 || len(a.b) > 64 {
		return ""
	}
	c := cursor{b: a.b, order: d.order}
	op := c.u8()
	out := ""
	switch {
	case op == opAddr:
		out = fmt.Sprintf("address %#x", c.fixed(u.addrSize))
	case op == opAddrx:
		if v, ok := d.indexed(u, c.uleb()); ok {
			out = fmt.Sprintf("address %#x", v)
		}
	case op == opFbreg:
		out = fmt.Sprintf("frame%+d", c.sleb())
	case op == opCallFrameCFA:
		out = "frame+0"
	case op >= opReg0 && op <= opReg31:
		out = fmt.Sprintf("register %d", op-opReg0)
	case op == opRegx:
		out = fmt.Sprintf("register %d", c.uleb())
	case op >= opBreg0 && op <= opBreg31:
		out = fmt.Sprintf("register %d%+d", op-opBreg0, c.sleb())
	}
	if c.bad || c.left() > 0 {
		return ""
	}
	return out
}

// memberOffset reads DW_AT_data_member_location: a number, or an expression
// that adds one.
func (d *Data) memberOffset(a attribute) (uint64, bool) {
	if !a.ok {
		return 0, false
	}
	if a.b == nil {
		return a.u, a.form != formSecOffset && a.form != formLoclistx
	}
	c := cursor{b: a.b, order: d.order}
	if op := c.u8(); op == opPlusUconst || op == opConstu {
		v := c.uleb()
		return v, !c.bad
	}
	return 0, false
}
