// Package parse turns JavaScript text into a syntax tree.
//
// # Tree
//
// A [File] holds its tree in one slice of [Node]s of fixed size. A node knows
// its kind, its byte range, its first child and its next sibling; what the
// children of a kind are, and in which order, is said at the kind. A child that
// the grammar allows to be left out is a node of kind [Empty], so positions
// never shift. Parentheses are not nodes. The tree of a program takes about six
// times its text.
//
// # Grammar
//
// ECMAScript 2025 with decorators, accessor fields, using declarations, import
// attributes and JSX, scripts and modules, sloppy and strict. Programs that a
// strict reading refuses for reasons other than their shape (a duplicate
// declaration, a misplaced break) are accepted: what is analysed is what an
// engine already ran. TypeScript is not read.
//
// # Errors
//
// A syntax error ends the statement it is in. Reading goes on behind it, so a
// broken file still gives the statements around the break. Nesting is bounded
// by [MaxDepth]; deeper text is an error like another.
package parse

import "strings"

// A Ref is the index of a node in File.Nodes; 0 is no node.
type Ref int32

// A Node is one construct.
type Node struct {
	Start, End uint32 // bytes of File.Src
	first      Ref    // first child; of words, their Atom
	Next       Ref    // next sibling
	Kind       Kind
	Op         Tok // operator, or the keyword of a declaration
	Flags      Flags
}

// word reports whether nodes of a kind have a name and no children.
func (k Kind) word() bool { return k-Ident <= PrivateName-Ident }

// First child, or 0.
func (n *Node) First() Ref {
	if n.Kind.word() {
		return 0
	}
	return n.first
}

// Atom of an Ident, Name or PrivateName; 0 for other nodes.
func (n *Node) Atom() Atom {
	if n.Kind.word() {
		return Atom(n.first)
	}
	return 0
}

// An Atom is the index of a name in File.Atoms; 0 is no name.
type Atom int32

// A Span is a range of bytes.
type Span struct{ Start, End uint32 }

// Flags of a node.
type Flags uint16

const (
	Async      Flags = 1 << iota // function, for await
	Generator                    // function
	Computed                     // key or property in brackets
	Static                       // class member
	Getter                       // property or member
	Setter                       // property or member
	IsMethod                     // property or member written as a method
	Shorthand                    // {a}
	Optional                     // ?. before this link of a chain
	Prefix                       // ++a
	Paren                        // stood in parentheses
	Escaped                      // written with an escape
	ExprBody                     // arrow function without braces
	Delegate                     // yield*
	IsAccessor                   // class field written with accessor
	Strict                       // function or program with a "use strict" of its own, or module
)

// Kind of a node.
type Kind uint8

// Kinds, with their children in order. "?" may be Empty, "*" repeats.
const (
	Invalid Kind = iota
	Empty        // stands for what was left out

	Program // statement*

	// Statements.
	VarDecl     // Declarator*; Op is Var, Let, Const, Using or AwaitUsing
	Declarator  // target, value?
	FuncDecl    // as Func
	ClassDecl   // as Class
	Block       // statement*
	ExprStmt    // expression
	EmptyStmt   //
	If          // test, then, else?
	For         // init?, test?, update?, body
	ForIn       // target, object, body
	ForOf       // target, iterable, body
	While       // test, body
	DoWhile     // body, test
	Return      // value?
	Break       // label?
	Continue    // label?
	Throw       // value
	Try         // block, Catch?, finally?
	Catch       // parameter?, block
	Switch      // discriminant, Case*
	Case        // test?, statement*
	Labeled     // Name, statement
	With        // object, body
	Debugger    //
	Import      // source, (ImportName | ImportDefault | ImportAll)*, attributes?
	ImportName  // imported (Name or String), local Ident
	ImportAll   // local Ident
	ImportDef   // local Ident
	ExportNames // source?, ExportName*, attributes?
	ExportName  // local (Name or String), exported (Name or String)
	ExportAll   // source, exported? (Name or String), attributes?
	ExportDecl  // declaration
	ExportDef   // declaration or expression

	// Expressions.
	Ident       // a reference or a binding
	Name        // a name that refers to nothing by itself: property, label
	PrivateName // #a
	This        //
	Super       //
	Null        //
	True        //
	False       //
	Number      // also big integers
	String      //
	Regex       //
	Template    // Chunk, (expression, Chunk)*
	Chunk       // text of a template
	Tagged      // tag, Template
	Array       // element?*
	Object      // (Property | Spread)*
	Property    // key, value
	Func        // Ident?, Params, Block
	Arrow       // Empty, Params, Block or expression
	Params      // pattern*
	Class       // Ident?, superclass?, (Member | StaticBlock | Decorator)*
	Member      // key, value?, Decorator*
	StaticBlock // statement*
	Decorator   // expression
	Unary       // operand
	Update      // operand
	Binary      // operand*, two or more, all joined by Op
	Logical     // operand*, two or more, all joined by Op
	Assign      // target, value
	Cond        // test, then, else
	Call        // callee, argument*
	New         // callee, argument*
	Dot         // object, Name or PrivateName
	Index       // object, property
	Sequence    // expression*
	Spread      // expression
	Yield       // value?
	Await       // value
	ImportCall  // specifier, options?
	ImportMeta  //
	NewTarget   //

	// Patterns.
	ArrayPattern  // element?*
	ObjectPattern // (Property | Rest)*
	AssignPattern // target, default
	Rest          // target

	// JSX.
	JSXElement   // name? (Empty for fragments), (JSXAttribute | Spread)*, JSXBody
	JSXAttribute // Name, value?
	JSXBody      // (JSXText | expression | Spread)*
	JSXText      //
)

// An Error is a place that does not follow the grammar.
type Error struct {
	At   uint32
	What string
}

// A File is a parsed text.
type File struct {
	Src      string
	Nodes    []Node
	Root     Ref
	Atoms    []string // names, by Atom
	Comments []Span   // in order, hashbang included
	Errors   []Error  // at most MaxErrors
	Module   bool     // has import or export, or import.meta or await outside of functions
	Failed   int      // errors, those that Errors does not hold included

	done <-chan struct{} // closed when nobody wants to know any more; nil for never
}

// Stopped reports that the context with which the file was parsed has ended. Whoever
// walks through a file gives up then, at the latest with the next function or the next
// [Stride] nodes; what it gives is of no use.
func (f *File) Stopped() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// Stride is after how many nodes a walk looks whether it was stopped.
const Stride = 1 << 13

// At is the node at r.
func (f *File) At(r Ref) *Node { return &f.Nodes[r] }

// Kind of the node at r; Invalid for 0.
func (f *File) Kind(r Ref) Kind { return f.Nodes[r].Kind }

// First child of r, or 0.
func (f *File) First(r Ref) Ref { return f.Nodes[r].First() }

// Next sibling of r, or 0.
func (f *File) Next(r Ref) Ref { return f.Nodes[r].Next }

// Kid is the i-th child of r, or 0.
func (f *File) Kid(r Ref, i int) Ref {
	k := f.Nodes[r].First()
	for ; i > 0 && k != 0; i-- {
		k = f.Nodes[k].Next
	}
	return k
}

// Kids counts the children of r.
func (f *File) Kids(r Ref) int {
	n := 0
	for k := f.Nodes[r].First(); k != 0; k = f.Nodes[k].Next {
		n++
	}
	return n
}

// Last child of r, or 0.
func (f *File) Last(r Ref) Ref {
	last := Ref(0)
	for k := f.Nodes[r].First(); k != 0; k = f.Nodes[k].Next {
		last = k
	}
	return last
}

// Text of the node at r, as written.
func (f *File) Text(r Ref) string {
	n := &f.Nodes[r]
	return f.Src[n.Start:n.End]
}

// NameOf an Ident, Name or PrivateName.
func (f *File) NameOf(r Ref) string { return f.Atoms[f.Nodes[r].Atom()] }

// IsFunction reports whether k opens a function.
func (k Kind) IsFunction() bool { return k == Func || k == FuncDecl || k == Arrow }

// KeyOf is the name of a property, member or module name, where it is known
// without running anything.
func (f *File) KeyOf(key Ref, computed bool) (string, bool) {
	switch f.Kind(key) {
	case Name, PrivateName:
		return f.NameOf(key), true
	case Ident:
		if !computed {
			return f.NameOf(key), true
		}
	case String:
		return f.StringValue(key), true
	case Number:
		return f.NumberKey(key)
	case Template:
		return f.Constant(key)
	}
	return "", false
}

// PropertyOf is the name that a Dot or an Index with a constant selects.
func (f *File) PropertyOf(r Ref) (string, bool) {
	n := f.At(r)
	switch n.Kind {
	case Dot:
		return f.NameOf(f.Kid(r, 1)), true
	case Index:
		return f.KeyOf(f.Kid(r, 1), true)
	}
	return "", false
}

// Constant is the value of a string, of a template without expressions, or of a
// concatenation of such.
func (f *File) Constant(r Ref) (string, bool) {
	switch f.Kind(r) {
	case String:
		return f.StringValue(r), true
	case Template:
		first := f.First(r)
		if f.Next(first) == 0 {
			return f.ChunkValue(first), true
		}
	case Binary:
		if f.At(r).Op != Plus {
			return "", false
		}
		var b strings.Builder
		for k := f.First(r); k != 0; k = f.Next(k) {
			if f.Kind(k) == Binary {
				return "", false
			}
			part, ok := f.Constant(k)
			if !ok {
				return "", false
			}
			b.WriteString(part)
		}
		return b.String(), true
	}
	return "", false
}

// Parents gives, for every node, the node whose child it is.
func (f *File) Parents() []Ref {
	parents := make([]Ref, len(f.Nodes))
	for i := range f.Nodes {
		for k := f.Nodes[i].First(); k != 0; k = f.Nodes[k].Next {
			parents[k] = Ref(i)
		}
	}
	return parents
}
