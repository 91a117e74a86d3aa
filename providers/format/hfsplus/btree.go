package hfsplus

import (
	"fmt"

	"rea/providers/format/container"
)

const (
	nodeHead    = 14
	leafNode    = 0xff
	recFolder   = 1
	recFile     = 2
	folderSize  = 88
	fileSize    = 248
	inlineAttr  = 0x10
	maxAttr     = 1 << 20
	maxPacked   = 64 << 20 // of inline attributes together
	decmpfsName = "com.apple.decmpfs"
)

// record is what the catalog says of a file or folder.
type record struct {
	name           string
	id             uint32
	folder         bool
	mode           uint16
	special        uint32
	kind, creator  string
	data, resource *fork
}

func (c *record) isLink() bool { return c.kind == "hlnk" && c.creator == "hfs+" }

// leaves calls visit with key and value of every record of a tree, in order.
func (r *Reader) leaves(f *fork, visit func(key, value []byte)) error {
	if f.size == 0 {
		return nil
	}
	head := make([]byte, nodeHead+106)
	if err := f.readAt(head, 0); err != nil {
		return err
	}
	first, size := int64(be.Uint32(head[nodeHead+10:])), int64(be.Uint16(head[nodeHead+18:]))
	if size < 512 || size&(size-1) != 0 {
		return container.Errorf("hfsplus", container.Corrupt, "nodes of %d bytes", size)
	}
	node := make([]byte, size)
	total := min(f.size, r.src.Size()) / size
	for n, visited := first, int64(0); n != 0; visited++ {
		if n >= total || visited > total {
			return container.Errorf("hfsplus", container.Corrupt, "the leaves of a tree do not end")
		}
		if err := f.readAt(node, n*size); err != nil {
			return err
		}
		if node[8] != leafNode {
			return container.Errorf("hfsplus", container.Corrupt, "node %d is no leaf", n)
		}
		count := int64(be.Uint16(node[10:]))
		if 2*(count+1) > size-nodeHead {
			return container.Errorf("hfsplus", container.Corrupt, "node %d has %d records", n, count)
		}
		for i := range count {
			from, to := int64(be.Uint16(node[size-2*(i+1):])), int64(be.Uint16(node[size-2*(i+2):]))
			if from < nodeHead || to > size || from+2 > to {
				return container.Errorf("hfsplus", container.Corrupt, "record %d of node %d", i, n)
			}
			b := node[from:to]
			key := int64(be.Uint16(b))
			if key+2 > int64(len(b)) {
				return container.Errorf("hfsplus", container.Corrupt, "the key of record %d of node %d", i, n)
			}
			visit(b[2:2+key], b[2+key:])
		}
		n = int64(be.Uint32(node))
	}
	return nil
}

func (r *Reader) readCatalog() error {
	r.children = map[uint32][]*record{}
	odd := 0
	err := r.leaves(r.catalog, func(key, value []byte) {
		if len(key) < 6 || len(value) < 2 {
			odd++
			return
		}
		parent, n := be.Uint32(key), int(be.Uint16(key[4:]))
		if 2*n > len(key)-6 {
			odd++
			return
		}
		c := &record{name: decodeName(key[6 : 6+2*n])}
		switch kind := be.Uint16(value); {
		case kind == recFolder && len(value) >= folderSize:
			c.folder = true
		case kind == recFile && len(value) >= fileSize:
			c.kind, c.creator = string(value[48:52]), string(value[52:56])
		case kind == recFolder || kind == recFile:
			odd++
			return
		default: // a thread
			return
		}
		c.id, c.mode, c.special = be.Uint32(value[8:]), be.Uint16(value[42:]), be.Uint32(value[44:])
		if !c.folder {
			c.data, c.resource = r.fork(value[88:168], forkKey{c.id, false}), r.fork(value[168:248], forkKey{c.id, true})
		}
		if c.folder && parent == rootFolder && c.name == privateFolder {
			r.hidden = c.id
		}
		r.children[parent] = append(r.children[parent], c)
	})
	if odd > 0 {
		r.gaps = append(r.gaps, fmt.Sprintf("%d records of the catalog are damaged", odd))
	}
	if err != nil && len(r.children) > 0 {
		r.gaps = append(r.gaps, "the catalog is damaged and was not read to its end: "+err.Error())
		return nil
	}
	return err
}

// readOverflow reads the extents of files that have more than eight.
func (r *Reader) readOverflow(f *fork) error {
	return r.leaves(f, func(key, value []byte) {
		if len(key) < 10 || len(value) < 64 {
			return
		}
		k := forkKey{be.Uint32(key[2:]), key[0] == 0xff}
		r.overflow[k] = append(r.overflow[k], extents(value)...)
	})
}

func extents(b []byte) []extent {
	var out []extent
	for i := 0; i < 8; i++ {
		if n := int64(be.Uint32(b[8*i+4:])); n > 0 {
			out = append(out, extent{int64(be.Uint32(b[8*i:])), n})
		}
	}
	return out
}

// readAttributes keeps what says that files are compressed.
func (r *Reader) readAttributes(f *fork) error {
	total := 0
	return r.leaves(f, func(key, value []byte) {
		if len(key) < 12 || len(value) < 16 || be.Uint32(value) != inlineAttr {
			return
		}
		n, size := int(be.Uint16(key[10:])), int(be.Uint32(value[12:]))
		if 2*n > len(key)-12 || decodeName(key[12:12+2*n]) != decmpfsName || size > maxAttr || size > len(value)-16 || total > maxPacked {
			return
		}
		total += size
		r.packed[be.Uint32(key[2:])] = append([]byte{}, value[16:16+size]...)
	})
}
