// Package cli is the command line of every tool as data: commands, positional
// arguments and flags, each with the place in the tool's input that it fills.
package cli

// A Type is how the text of an argument becomes JSON.
type Type string

const (
	String  Type = "string"
	Path    Type = "path" // a local file, a string in the input
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean" // a flag without value is true
	JSON    Type = "json"    // anything else, written as JSON
)

// A Command is one tool.
type Command struct {
	Name        string // "list-names"
	Tool        string // "list_names"
	Family      string
	Title       string
	Description string
	Target      bool // the first positional argument is the file to open
	Positionals []Argument
	Flags       []Argument // in contract order, those that are positional too included
	Hidden      bool       // left out of overviews
}

// An Argument fills one place in the input, if it is given.
type Argument struct {
	Name     string // "max-depth"
	Pointer  string // "/max_depth"
	Type     Type
	Help     string
	Default  string // what the tool takes without it, as JSON; "" when nothing
	Enum     []string
	Required bool
	Repeated bool // given several times it makes a list
	Record   bool // it is a record of Evidence
}
