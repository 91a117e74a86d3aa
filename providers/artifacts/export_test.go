package artifacts

// Attaching makes handlers with another program in the place of hdiutil.
func Attaching(program string) *Handlers { return &Handlers{attacher: program} }
