package udif

import (
	"fmt"
	"io"
	"sort"
	"sync"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

// The kinds of runs.
const (
	runZero    = 0
	runRaw     = 1
	runIgnore  = 2
	runADC     = 0x80000004
	runZlib    = 0x80000005
	runBzip2   = 0x80000006
	runLZFSE   = 0x80000007
	runXZ      = 0x80000008
	runComment = 0x7ffffffe
	runEnd     = 0xffffffff
)

// maxRun is the largest run that is decoded; tools write up to 1 MiB.
const maxRun = 64 << 20

// kept is how many decoded runs are kept.
const kept = 4

// run is a part of a partition.
type run struct {
	kind       uint32
	from, size int64 // in the partition
	at, length int64 // in the file
}

func (x run) stored() bool { return x.kind != runZero && x.kind != runIgnore }

func runName(kind uint32) string {
	switch kind {
	case runADC:
		return "adc"
	case runZlib:
		return "zlib"
	case runBzip2:
		return "bzip2"
	case runLZFSE:
		return "lzfse"
	case runXZ:
		return "xz"
	}
	return "stored"
}

// image is the decoded content of a partition. It is used concurrently.
type image struct {
	src  container.Source
	runs []run
	size int64

	mu      sync.Mutex
	decoded [kept]struct {
		run  int
		data []byte
	}
	turn int
}

// ReadAt decodes what it needs. Sectors that no run covers are zero.
func (m *image) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= m.size {
		return 0, io.EOF
	}
	want := len(p)
	if int64(want) > m.size-off {
		p = p[:m.size-off]
	}
	n := 0
	for n < len(p) {
		at := off + int64(n)
		i := sort.Search(len(m.runs), func(i int) bool { return m.runs[i].from+m.runs[i].size > at })
		if i == len(m.runs) || m.runs[i].from > at {
			end := m.size
			if i < len(m.runs) {
				end = m.runs[i].from
			}
			n += zero(p[n:], end-at)
			continue
		}
		x := m.runs[i]
		skip := at - x.from
		switch {
		case !x.stored():
			n += zero(p[n:], x.size-skip)
		case x.kind == runRaw:
			k := int(min(int64(len(p)-n), x.size-skip))
			if skip > x.length-int64(k) {
				return n, container.Errorf("udif", container.Corrupt, "a stored run is shorter than its sectors")
			}
			if err := container.ReadFull(m.src, "udif", x.at+skip, p[n:n+k]); err != nil {
				return n, err
			}
			n += k
		default:
			data, err := m.run(i)
			if err != nil {
				return n, err
			}
			n += copy(p[n:], data[skip:])
		}
	}
	if n < want {
		return n, io.EOF
	}
	return n, nil
}

func zero(p []byte, n int64) int {
	k := int(min(int64(len(p)), n))
	clear(p[:k])
	return k
}

// run decodes run i, which must give exactly its sectors.
func (m *image) run(i int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.decoded {
		if d.data != nil && d.run == i {
			return d.data, nil
		}
	}
	x := m.runs[i]
	if x.size > maxRun || x.length > maxRun {
		return nil, container.Errorf("udif", container.Bounded, "a run of %d bytes", x.size)
	}
	packed, err := container.ReadAt(m.src, "udif", x.at, x.length)
	if err != nil {
		return nil, err
	}
	data, err := unpack(x.kind, packed, x.size)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != x.size {
		return nil, &container.Error{Format: "udif", Kind: container.Corrupt, What: fmt.Sprintf("a run gives %d bytes instead of %d", len(data), x.size), Offset: x.at}
	}
	m.decoded[m.turn].run, m.decoded[m.turn].data = i, data
	m.turn = (m.turn + 1) % kept
	return data, nil
}

func unpack(kind uint32, packed []byte, size int64) ([]byte, error) {
	switch kind {
	case runADC:
		return codec.ADC(packed, int(size))
	case runZlib:
		return codec.All(codec.Zlib, packed, size)
	case runBzip2:
		return codec.All(codec.Bzip2, packed, size)
	case runLZFSE:
		return codec.LZFSE(packed, int(size))
	case runXZ:
		return codec.All(codec.XZBlock, packed, size)
	}
	return nil, container.Errorf("udif", container.Unsupported, "runs of kind %#x are not read", kind)
}
