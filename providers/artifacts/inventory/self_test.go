package inventory

import "testing"

// TestSelf: an archive that holds itself is told by its digest, however far up
// it was begun; the root's digest may still be on its way.
func TestSelf(t *testing.T) {
	pending := &pendingHash{done: make(chan struct{})}
	root := &ancestors{item: &Item{}, pending: pending}
	inner := &ancestors{item: &Item{SHA256: "bb"}, up: &ancestors{item: &Item{SHA256: "cc"}, up: root}}
	go func() {
		root.item.SHA256 = "aa"
		close(pending.done)
	}()
	for sum, want := range map[string]bool{"aa": true, "bb": true, "cc": true, "dd": false} {
		if inner.has(sum) != want {
			t.Errorf("%s: %v", sum, !want)
		}
	}
}
