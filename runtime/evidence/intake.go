package evidence

// An Intake collects records that are admitted to a ledger together or not at
// all. Their bytes go to a segment of their own, so that an intake of any size
// needs little memory, and one that is given up leaves nothing behind. It is
// used by one goroutine.
type Intake struct {
	ledger  *Ledger
	segment *segment
	entries []*entry
}

// Intake begins an admission. The caller must end it with Commit or Discard;
// Discard after Commit does nothing.
func (l *Ledger) Intake() (*Intake, error) {
	s, err := newSegment(l.dir)
	if err != nil {
		return nil, err
	}
	return &Intake{ledger: l, segment: s}, nil
}

// Add stores a record. The records of one intake must differ in identity.
func (in *Intake) Add(r *Record) error {
	if in.ledger.Len()+len(in.entries) >= MaxRecords {
		return ErrFull
	}
	e := newEntry(r)
	at, err := in.segment.write(r.canonical)
	if err != nil {
		return err
	}
	e.segment, e.offset = in.segment, at
	in.entries = append(in.entries, e)
	return nil
}

// Commit admits everything at once and reports how many records were new.
func (in *Intake) Commit() (added int) {
	l := in.ledger
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range in.entries {
		if l.index[e.summary.ID] == nil {
			l.insert(e)
			added++
		}
	}
	in.Discard()
	return added
}

// Discard lets go of what was collected.
func (in *Intake) Discard() {
	if in.segment != nil {
		in.segment.release()
		in.segment, in.entries = nil, nil
	}
}
