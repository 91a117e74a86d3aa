package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Doc is one contract file.
type Doc struct {
	Name   string // file stem: the tool, model or error code
	Family string // of a tool, the folder it lies in
	Root   *Node
}

// A Set is all contracts, each list sorted by name.
type Set struct {
	Models, Errors, Tools []*Doc
	Catalog               []byte // schema of the exported documentation catalog
	files                 map[string]*Node
}

var stem = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)

// Load reads and checks the contracts folder of root.
func Load(root fs.FS) (*Set, error) {
	s := &Set{files: map[string]*Node{}}
	var faults Faults
	meta, err := fs.ReadFile(root, "contracts/meta.json")
	if err != nil {
		return nil, fmt.Errorf("reading the schema of contracts: %w", err)
	}
	if s.Catalog, err = fs.ReadFile(root, "contracts/catalog.json"); err != nil {
		return nil, fmt.Errorf("reading the schema of the catalog: %w", err)
	}
	err = fs.WalkDir(root, "contracts", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" || path.Dir(name) == "contracts" {
			return err
		}
		return s.read(root, name, &faults)
	})
	if err != nil {
		return nil, err
	}
	byName := func(a, b *Doc) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(s.Tools, byName)
	for i := 1; i < len(s.Tools); i++ {
		if s.Tools[i].Name == s.Tools[i-1].Name {
			faults.Add(s.Tools[i].Root, "tool %s is already in family %s: names are unique over all families", s.Tools[i].Name, s.Tools[i-1].Family)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if err := checkMeta(meta, s.Tools, &faults); err != nil {
		return nil, err
	}
	s.checkDialect(&faults)
	return s, faults.Err()
}

func (s *Set) read(root fs.FS, name string, faults *Faults) error {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	n, err := Parse(name, data)
	if err != nil {
		var fault *Fault
		if !errors.As(err, &fault) {
			return err
		}
		*faults = append(*faults, fault)
		return nil
	}
	doc := &Doc{Name: strings.TrimSuffix(path.Base(name), ".json"), Root: n}
	if !stem.MatchString(doc.Name) {
		faults.Add(n, "file name %s: use lowercase letters, digits and _, beginning with a letter, at most 50", doc.Name)
	}
	s.files[name] = n
	switch parts := strings.Split(name, "/"); {
	case len(parts) == 3 && parts[1] == "models":
		s.Models = append(s.Models, doc)
	case len(parts) == 3 && parts[1] == "errors":
		s.Errors = append(s.Errors, doc)
	case len(parts) == 4 && parts[1] == "tools":
		doc.Family = parts[2]
		s.Tools = append(s.Tools, doc)
	default:
		faults.Add(n, "a contract lies in contracts/models, contracts/errors or contracts/tools/<family>")
	}
	return nil
}

// Resolve finds what a $ref means. The reference is relative to the file it
// stands in: "x.json", "../models/x.json" or "#/$defs/x".
func (s *Set) Resolve(ref *Node) (*Node, error) {
	file, fragment, _ := strings.Cut(ref.Text, "#")
	name := ref.Pos.File
	if file != "" {
		name = path.Join(path.Dir(name), file)
	}
	n := s.files[name]
	if n == nil {
		return nil, &Fault{ref.Pos, fmt.Sprintf("$ref %s: there is no %s", ref.Text, name)}
	}
	if fragment == "" {
		if file == "" || !strings.HasPrefix(name, "contracts/models/") {
			return nil, &Fault{ref.Pos, fmt.Sprintf("$ref %s: refer to a model or to #/$defs/name", ref.Text)}
		}
		return n, nil
	}
	local, ok := strings.CutPrefix(fragment, "/$defs/")
	if !ok || file != "" {
		return nil, &Fault{ref.Pos, fmt.Sprintf("$ref %s: a fragment is #/$defs/name of the same file; share a value by its own file in contracts/models", ref.Text)}
	}
	n = n.At("$defs", local)
	if n == nil {
		return nil, &Fault{ref.Pos, fmt.Sprintf("$ref %s: no such definition in %s", ref.Text, name)}
	}
	return n, nil
}
