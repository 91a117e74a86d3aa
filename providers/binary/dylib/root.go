package dylib

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// root is the folder that a system lies in; "" is this machine.
type root struct {
	host string
	dirs map[string][]fs.DirEntry // listings, for names whose case does not matter
}

// place is a path as the system sees it, or one of this machine when it lies
// outside of the root.
type place struct {
	path    string
	outside bool
}

func (p place) dir() place { return place{path.Dir(p.path), p.outside} }

func (p place) base() string { return path.Base(p.path) }

func (p place) join(elem string) place { return place{path.Join(p.path, elem), p.outside} }

// id tells places apart.
func (p place) id() string {
	if p.outside {
		return "\x00" + p.path
	}
	return p.path
}

// guest is a path inside of the root.
func (r *root) guest(p string) place { return place{path.Clean("/" + p), false} }

// placeOf is where a file of this machine lies.
func (r *root) placeOf(host string) place {
	if r.host == "" {
		return place{filepath.ToSlash(host), true}
	}
	base := r.host
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	if rel, err := filepath.Rel(base, host); err == nil && filepath.IsLocal(rel) {
		return r.guest(filepath.ToSlash(rel))
	}
	return place{filepath.ToSlash(host), true}
}

// hostPath is a place as this machine names it.
func (r *root) hostPath(p place) string {
	if p.outside || r.host == "" {
		return filepath.FromSlash(p.path)
	}
	return filepath.Join(r.host, filepath.FromSlash(p.path))
}

const maxLinks = 40

// find follows the links of a path. It is found when it is a regular file.
func (r *root) find(p place) (place, bool) {
	if strings.ContainsRune(p.path, 0) {
		return p, false
	}
	if p.outside || r.host == "" {
		real, err := filepath.EvalSymlinks(filepath.FromSlash(p.path))
		if err != nil {
			return p, false
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() {
			return p, false
		}
		return place{filepath.ToSlash(real), true}, true
	}
	real, info := r.walk(p.path)
	return place{real, false}, info != nil && info.Mode().IsRegular()
}

// walk resolves links one by one, so that none leads out of the root.
func (r *root) walk(p string) (string, fs.FileInfo) {
	done, rest := "/", strings.Split(strings.Trim(path.Clean("/"+p), "/"), "/")
	var info fs.FileInfo
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, name)
		var err error
		if info, err = os.Lstat(filepath.Join(r.host, filepath.FromSlash(at))); err != nil {
			return p, nil
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = at
			continue
		}
		if links++; links > maxLinks {
			return p, nil
		}
		to, err := os.Readlink(filepath.Join(r.host, filepath.FromSlash(at)))
		if err != nil {
			return p, nil
		}
		if to = filepath.ToSlash(to); path.IsAbs(to) {
			done = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return done, info
}

// read is the content of a small file of the system, nil when there is none.
func (r *root) read(guest string) []byte {
	p, ok := r.find(r.guest(guest))
	if !ok {
		return nil
	}
	const most = 64 << 20
	name := r.hostPath(p)
	if info, err := os.Stat(name); err != nil || info.Size() > most {
		return nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return b
}

// isDir tells whether a folder exists.
func (r *root) isDir(guest string) bool {
	if r.host == "" {
		info, err := os.Stat(filepath.FromSlash(guest))
		return err == nil && info.IsDir()
	}
	_, info := r.walk(guest)
	return info != nil && info.IsDir()
}

// fold finds a path whose case does not matter.
func (r *root) fold(p place) place {
	base := r.host
	if p.outside || base == "" {
		base = ""
	}
	done := "/"
	for name := range strings.SplitSeq(strings.Trim(p.path, "/"), "/") {
		next := path.Join(done, name)
		if _, err := os.Lstat(filepath.Join(base, filepath.FromSlash(next))); err != nil {
			for _, e := range r.list(filepath.Join(base, filepath.FromSlash(done))) {
				if strings.EqualFold(e.Name(), name) {
					next = path.Join(done, e.Name())
					break
				}
			}
		}
		done = next
	}
	return place{done, p.outside}
}

func (r *root) list(dir string) []fs.DirEntry {
	if e, ok := r.dirs[dir]; ok {
		return e
	}
	if r.dirs == nil {
		r.dirs = map[string][]fs.DirEntry{}
	}
	e, err := os.ReadDir(dir)
	if err != nil {
		e = nil
	}
	r.dirs[dir] = e
	return e
}
