package inventory

import (
	"strings"
	"sync"

	"rea/providers/format/container"
)

// selection is the set of logical paths to read, nil for everything.
type selection struct {
	paths map[string]bool // those that were matched are true
	leads map[string]bool // containers on the way to them
	mu    sync.Mutex
}

func newSelection(paths []string) *selection {
	if paths == nil {
		return nil
	}
	s := &selection{paths: map[string]bool{}, leads: map[string]bool{container.Inside: len(paths) > 0}}
	for _, p := range paths {
		p = normal(p)
		s.paths[p] = false
		for i := 0; ; {
			k := strings.Index(p[i:], container.Inside)
			if k < 0 {
				break
			}
			s.leads[p[:i+k]] = true
			i += k + len(container.Inside)
			s.leads[p[:i]] = true // the stream in between
		}
	}
	return s
}

// normal drops what is of no account in a logical path: the slash that archives
// put behind directories, and the dot that they put before names.
func normal(p string) string {
	p = strings.ReplaceAll(strings.TrimPrefix(p, "./"), container.Inside+"./", container.Inside)
	if strings.HasSuffix(p, container.Inside) {
		return p
	}
	return strings.TrimSuffix(p, "/")
}

// wants reports whether the item is selected: it, a directory above it or a
// container around it was named.
func (s *selection) wants(path string) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	hit := func(p string) {
		if _, ok := s.paths[p]; ok {
			s.paths[p] = true
			found = true
		}
	}
	path = normal(path)
	hit(path)
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		hit(path[:i])
		if i > 0 && path[i-1] == '!' {
			hit(path[:i-1])
			hit(path[:i+1])
		}
	}
	return found
}

// reaches reports whether something in the item is selected.
func (s *selection) reaches(path string) bool { return s == nil || s.leads[normal(path)] }

// missed are the selected paths that were not found, in the order given.
func (s *selection) missed(paths []string) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, p := range paths {
		if !s.paths[normal(p)] {
			out = append(out, p)
		}
	}
	return out
}

// Selected tells whether a logical path was selected: it, a directory above it
// or a container around it was named. Without paths everything is.
func Selected(paths []string) func(path string) bool {
	return newSelection(paths).wants
}
