package emit

import "github.com/dave/jennifer/jen"

// fields are the fields of a struct literal, in the order in which they are set;
// a jen.Dict would sort them.
type fields []jen.Code

func (f *fields) set(name string, value jen.Code) {
	*f = append(*f, jen.Id(name).Op(":").Add(value))
}

// flag sets a field that is true, and leaves out a false one.
func (f *fields) flag(name string, on bool) {
	if on {
		f.set(name, jen.True())
	}
}

// texts sets a list of strings unless it is empty.
func (f *fields) texts(name string, list []string) {
	if len(list) > 0 {
		f.set(name, strs(list))
	}
}

// values is the literal with one field a line.
func (f fields) values() *jen.Statement {
	return jen.ValuesFunc(func(g *jen.Group) {
		for _, field := range f {
			g.Line().Add(field)
		}
		g.Line()
	})
}

// inline is the literal on one line.
func (f fields) inline() *jen.Statement { return jen.Values(f...) }
