package ehframe

import (
	"slices"

	"rea/providers/format/object"
)

// readLSDA reads the call-site table of a language-specific data area in the
// form that GCC and LLVM share for C++, Rust, Objective-C, Ada and D, and
// collects the landing pads.
func (r *reader) readLSDA(f *FDE) {
	if f.LSDA == 0 {
		return
	}
	c := r.cursorAt(f.LSDA, ^uint64(0))
	b := bases{text: r.loc.TextBase, data: r.loc.DataBase, function: f.Addr}
	start := f.Addr
	if enc := c.u8(); enc != peOmit {
		start = c.pointer(enc, b)
	}
	if enc := c.u8(); enc != peOmit {
		c.uleb() // distance of the type table
	}
	enc := c.u8()
	n := c.uleb()
	if c.bad || enc == peOmit || n > uint64(len(c.b)) || n > uint64(r.siteBudget) {
		r.padsLost++
		return
	}
	r.siteBudget -= int(n)
	c.b = c.b[:n]
	for len(c.b) > 0 {
		from := c.value(enc & 0x0f) // start of the calls, from the function
		size := c.value(enc & 0x0f)
		pad := c.value(enc & 0x0f)
		c.uleb() // action
		if c.bad {
			r.padsLost++
			return
		}
		if pad == 0 || from > f.Size || size > f.Size-from {
			continue
		}
		if pad = c.wrap(start + pad); r.im.Executable(pad) {
			f.LandingPads = append(f.LandingPads, pad)
			f.Sites = append(f.Sites, object.CallSite{Addr: c.wrap(f.Addr + from), Size: size, Pad: pad})
		}
	}
	slices.Sort(f.LandingPads)
	f.LandingPads = slices.Compact(f.LandingPads)
}
