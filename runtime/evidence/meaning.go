package evidence

func (r *Record) checkMeaning() error { return nil }
