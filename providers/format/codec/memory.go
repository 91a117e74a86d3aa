package codec

import (
	"io"
	"runtime/debug"
	"sync"
)

const (
	// largeHistory is from where a decoder's history is much of what the process
	// needs.
	largeHistory = 16 << 20
	// tightGC is the garbage, in percent of what lives, that is allowed to gather
	// while such a decoder is open.
	tightGC = 40
)

// large counts the decoders with a large history that are open. The collector
// lets garbage grow in proportion to what lives, so that a history of 64 MiB
// would cost 128.
var large struct {
	sync.Mutex
	open, before int
}

// Hold keeps memory tight while rc, which has a history of so many bytes, is
// open.
func Hold(rc io.ReadCloser, history int64) io.ReadCloser {
	if history < largeHistory {
		return rc
	}
	large.Lock()
	defer large.Unlock()
	if large.open++; large.open == 1 {
		large.before = debug.SetGCPercent(tightGC)
		if large.before >= 0 && large.before < tightGC {
			debug.SetGCPercent(large.before)
		}
	}
	return &held{ReadCloser: rc}
}

type held struct {
	io.ReadCloser
	once sync.Once
}

func (h *held) Close() error {
	h.once.Do(func() {
		large.Lock()
		defer large.Unlock()
		if large.open--; large.open == 0 {
			debug.SetGCPercent(large.before)
		}
	})
	return h.ReadCloser.Close()
}
