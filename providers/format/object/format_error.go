package object

import "fmt"

// FormatError says that a file can't be read as its format at all: what is
// wrong, and at which file offset. Damage that leaves a usable image is a note
// of that image instead.
type FormatError struct {
	Format Format
	Offset uint64
	What   string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s (file offset %#x)", e.Format, e.What, e.Offset)
}
