// Package scope resolves the names of a parsed program: which declaration each
// identifier means.
//
// Scopes nest as the language says: the file, functions (parameters and body
// together), blocks, for heads, switch bodies, catch clauses, classes, field
// initializers, static blocks, and the name of a function expression. A default
// value of a parameter does not see what only the body declares. What is read
// through with, or nowhere declared, stays unresolved. A function declared in a
// block is visible in that block.
//
// # Method
//
// One walk over the tree collects, for every scope, what it declares, and the uses
// of names in the order in which they stand. Then one pass over the uses enters and
// leaves scopes as they come: a table by atom holds the innermost binding of each
// name, and each binding the one that it hides. So the cost is that of the text,
// however deep scopes nest.
package scope

import "rea/providers/javascript/parse"

// An ID is the index of a scope in Table.Scopes. 0 is the file itself.
type ID int32

// A BindingID is the index of a binding in Table.Bindings. 0 is none.
type BindingID int32

// Kind of a scope.
type Kind uint8

// Kinds of scope.
const (
	File Kind = iota
	Function
	FunctionName // of a function expression; holds the name alone
	BlockScope
	ForScope
	SwitchScope
	CatchScope
	ClassScope
	FieldScope
	StaticScope
	WithScope
)

// A Scope is a region in which declarations are visible.
type Scope struct {
	Kind   Kind
	Node   parse.Ref
	Parent ID
	First  BindingID // its bindings are First up to First+Count
	Count  int32

	declared int32 // head of a list, 0 for none
	depth    int32 // scopes around
}

// Declaration says how a binding came to be.
type Declaration uint8

// Ways to declare.
const (
	Var Declaration = iota
	Let
	Const
	FunctionDecl
	ClassDecl
	Parameter
	CatchParameter
	ImportName
	FunctionSelf // the name of a function expression inside itself
	ClassSelf    // the name of a class inside itself
	Arguments    // implicit
)

// A Binding is one variable.
type Binding struct {
	Atom  parse.Atom
	Scope ID
	How   Declaration // of the first declaration
	Decl  parse.Ref   // Ident of the first declaration; 0 for Arguments
	Decls int32       // how often it is declared
	Reads int32
	// Writes counts assignments, those of initial values included.
	Writes int32
}

// Use of a name.
type Use uint8

// Uses.
const (
	Read Use = 1 << iota
	Write
	Init // the write is that of a declaration
)

// A Reference is a use of a name.
type Reference struct {
	Node    parse.Ref
	Binding BindingID // 0 where the name is global or unknown
	where   uint32    // scope and use
}

const useBits = 3

// Scope in which the name is used.
func (r *Reference) Scope() ID { return ID(r.where >> useBits) }

// Use that is made of the name.
func (r *Reference) Use() Use { return Use(r.where & (1<<useBits - 1)) }

// A Table is the scopes of a file.
type Table struct {
	Scopes     []Scope
	Bindings   []Binding // 0 is none
	References []Reference
	// Of is the binding that an Ident means, by its Ref: that of a declaration,
	// or of a use that was settled.
	Of []BindingID
}

// Binding of an identifier, or nil.
func (t *Table) Binding(r parse.Ref) *Binding {
	if b := t.Of[r]; b != 0 {
		return &t.Bindings[b]
	}
	return nil
}

// Global reports whether r is a use of a name that the file does not declare.
func (t *Table) Global(f *parse.File, r parse.Ref, name string) bool {
	return f.Kind(r) == parse.Ident && t.Of[r] == 0 && f.NameOf(r) == name
}

// Resolve makes the table of a file.
func Resolve(f *parse.File) *Table {
	idents := 0
	for i := range f.Nodes {
		if f.Nodes[i].Kind == parse.Ident {
			idents++
		}
	}
	w := &walker{
		f: f,
		t: &Table{
			Bindings:   make([]Binding, 1, 1+idents/4),
			References: make([]Reference, 1, 1+idents),
			Of:         make([]BindingID, len(f.Nodes)),
		},
		declarations: make([]declaration, 1, 1+idents/3),
		slot:         make([]BindingID, len(f.Atoms)),
	}
	w.t.Scopes = append(w.t.Scopes, Scope{Kind: File, Node: f.Root})
	w.variable = append(w.variable, 0)
	w.kids(f.Root)
	w.close()
	w.declarations = nil
	if !w.stopped {
		settle(f, w.t, w.slot)
	}
	return w.t
}
