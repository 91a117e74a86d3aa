package macho

func (l *loader) objectRelocations() {}
