package inventory

import (
	"fmt"

	"rea/providers/format/container"
)

// Status says how the content of an item compares with what was declared.
type Status string

const (
	Verified   Status = "verified"
	Mismatched Status = "mismatched"
	Observed   Status = "observed" // nothing was declared
	NotHashed  Status = "not_hashed"
	Unreadable Status = "unreadable"
	NoContent  Status = "none"
)

// An Item is one occurrence: an entry as it is listed.
type Item struct {
	Path      string // logical
	Container string // logical path of the container, "" for the root
	Raw       string // name in its container
	Type      container.Type
	Mode      int64 // or container.Unknown, like all numbers here
	Size      int64 // observed, else declared
	Declared  int64
	Packed    int64
	Offset    int64
	Method    string
	Link      string
	Encrypted bool
	Unpacked  bool
	SHA256    string // "" when it was not observed
	Status    Status
	Checks    []Check
	Identity
	Role  string
	Notes []string
	// Why is the kind of error that kept the content from being read.
	Why container.Kind
	// Limit is the name of the limit that kept it from being read.
	Limit string
	// Quarantined content contradicts its digest and is never expanded.
	Quarantined bool
	// Opaque content is a container that no reader was there for.
	Opaque bool
	// Inside is what was found in it, nil if it is no container.
	Inside *Node
}

// A Node is an expanded container.
type Node struct {
	Path   string // logical, "" for the root
	Format string
	Items  []*Item
	Claims []container.Claim
	Notes  []string
	// Gaps are entries that are there and could not be listed.
	Gaps []string
	// Failed is why the entries ended before the end.
	Failed error
	// Cut tells that a limit ended the entries.
	Cut bool
	// Skipped counts entries that the selection left out.
	Skipped int64
}

func (it *Item) note(format string, args ...any) {
	it.Notes = append(it.Notes, fmt.Sprintf(format, args...))
}

// describe takes over what the container says.
func describe(parent string, e *container.Entry) *Item {
	it := &Item{
		Path: container.Join(parent, e.Path), Container: parent, Raw: e.Path, Type: e.Type, Mode: e.Mode, Size: e.Size, Declared: e.Size,
		Packed: e.Packed, Offset: e.Offset, Method: e.Method, Link: container.Escape(e.Link), Encrypted: e.Encrypted, Unpacked: e.Unpacked,
		Notes: e.Notes, Status: NoContent,
	}
	if !e.Type.HasContent() {
		it.Size, it.Declared, it.Packed = container.Unknown, container.Unknown, container.Unknown
	}
	return it
}

// A Mismatch stops a walk that fails closed.
type Mismatch struct {
	Item  *Item
	Check Check
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s: %s is %s, declared %s", m.Item.Path, m.Check.Algorithm, m.Check.Observed, m.Check.Declared)
}

// CauseUnpacked is the usual reason why an unpacked entry of an ASAR archive
// contradicts the archive's header.
const CauseUnpacked = "packaging tools commonly sign or strip native binaries in .asar.unpacked after they wrote the archive header, and Electron does not check unpacked files against it"
