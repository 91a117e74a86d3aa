package pe

import "rea/providers/format/object"

// objectUnwind reads function extents from the .pdata sections of an x64
// object, whose addresses are relocations.
func (l *loader) objectUnwind() {
	if l.machine != machineAMD64 {
		return
	}
	targets := map[uint64]uint64{}
	for _, r := range l.im.Relocations {
		if r.HasTarget && r.Type == "IMAGE_REL_AMD64_ADDR32NB" {
			targets[r.Addr] = r.Target
		}
	}
	for i := range l.sections {
		s := &l.sections[i]
		if s.addr == 0 || len(s.name) < 6 || s.name[:6] != ".pdata" {
			continue
		}
		for off := uint64(0); off+12 <= uint64(s.rawSize); off += 12 {
			begin, ok := targets[s.addr+off]
			end, ok2 := targets[s.addr+off+4]
			if !ok || !ok2 || end <= begin {
				break
			}
			info := l.im.Bytes(targets[s.addr+off+8], 1)
			if len(info) == 1 && info[0]>>3&unwindChained != 0 {
				continue
			}
			l.hint(begin, end-begin, "", object.FromPData)
		}
	}
}
