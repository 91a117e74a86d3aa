package parse

// A Tok is a token. Operators keep their token in the tree.
type Tok uint8

// Tokens.
const (
	EOF Tok = iota
	Bad
	Identifier
	Private // #a
	Num
	Str
	Backquote

	BraceL
	BraceR
	ParenL
	ParenR
	BracketL
	BracketR
	Semicolon
	Comma
	Colon
	Period
	Question
	QuestionDot
	Ellipsis
	FatArrow
	At

	// Assignments, in the order of the operators they hold.
	Equal
	PlusEqual
	MinusEqual
	StarEqual
	SlashEqual
	PercentEqual
	PowerEqual
	ShlEqual
	ShrEqual
	UshrEqual
	AndEqual
	OrEqual
	XorEqual
	LandEqual
	LorEqual
	NullishEqual

	Not
	Tilde
	Increment
	Decrement

	// Binary operators.
	Nullish
	Lor
	Land
	Or
	Xor
	And
	EqEq
	NotEq
	EqEqEq
	NotEqEq
	Less
	Greater
	LessEq
	GreaterEq
	Shl
	Shr
	Ushr
	Plus
	Minus
	Star
	Slash
	Percent
	Power

	// Reserved words, in the order of words.
	KeyBreak
	KeyCase
	KeyCatch
	KeyClass
	KeyConst
	KeyContinue
	KeyDebugger
	KeyDefault
	KeyDelete
	KeyDo
	KeyElse
	KeyEnum
	KeyExport
	KeyExtends
	KeyFalse
	KeyFinally
	KeyFor
	KeyFunction
	KeyIf
	KeyImport
	KeyIn
	KeyInstanceof
	KeyNew
	KeyNull
	KeyReturn
	KeySuper
	KeySwitch
	KeyThis
	KeyThrow
	KeyTrue
	KeyTry
	KeyTypeof
	KeyVar
	KeyVoid
	KeyWhile
	KeyWith

	// Not tokens: how a declaration was written.
	KeyLet
	KeyUsing
	KeyAwaitUsing
)

// words are the reserved words; their atoms are their indices here, from 1.
var words = [...]string{
	"", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
	"export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null",
	"return", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
	// Words with a meaning in some places only.
	"let", "static", "async", "of", "get", "set", "await", "yield", "from", "as", "using", "accessor", "target", "meta",
	"arguments", "eval", "undefined", "constructor", "defer", "source",
}

// Atoms of the words that are identifiers.
const (
	atomReserved = Atom(36) // the last reserved word
	atomLet      = atomReserved + iota
	atomStatic
	atomAsync
	atomOf
	atomGet
	atomSet
	atomAwait
	atomYield
	atomFrom
	atomAs
	atomUsing
	atomAccessor
	atomTarget
	atomMeta
	AtomArguments
	AtomEval
	AtomUndefined
	atomConstructor
	atomDefer
	atomSource
)

// precedence of binary operators, 0 for other tokens.
func (t Tok) precedence() int {
	switch t {
	case Nullish:
		return 1
	case Lor:
		return 2
	case Land:
		return 3
	case Or:
		return 4
	case Xor:
		return 5
	case And:
		return 6
	case EqEq, NotEq, EqEqEq, NotEqEq:
		return 7
	case Less, Greater, LessEq, GreaterEq, KeyInstanceof, KeyIn:
		return 8
	case Shl, Shr, Ushr:
		return 9
	case Plus, Minus:
		return 10
	case Star, Slash, Percent:
		return 11
	case Power:
		return 12
	}
	return 0
}

func (t Tok) assigns() bool { return t >= Equal && t <= NullishEqual }

func (t Tok) reserved() bool { return t >= KeyBreak && t <= KeyWith }

// symbols are the operators as written.
var symbols = [...]string{
	Equal: "=", PlusEqual: "+=", MinusEqual: "-=", StarEqual: "*=", SlashEqual: "/=", PercentEqual: "%=", PowerEqual: "**=",
	ShlEqual: "<<=", ShrEqual: ">>=", UshrEqual: ">>>=", AndEqual: "&=", OrEqual: "|=", XorEqual: "^=",
	LandEqual: "&&=", LorEqual: "||=", NullishEqual: "??=", Not: "!", Tilde: "~", Increment: "++", Decrement: "--",
	Nullish: "??", Lor: "||", Land: "&&", Or: "|", Xor: "^", And: "&", EqEq: "==", NotEq: "!=", EqEqEq: "===",
	NotEqEq: "!==", Less: "<", Greater: ">", LessEq: "<=", GreaterEq: ">=", Shl: "<<", Shr: ">>", Ushr: ">>>",
	Plus: "+", Minus: "-", Star: "*", Slash: "/", Percent: "%", Power: "**",
}

func (t Tok) String() string {
	switch {
	case t.reserved():
		return words[int(t-KeyBreak)+1]
	case t == KeyLet:
		return "let"
	case t == KeyUsing:
		return "using"
	case t == KeyAwaitUsing:
		return "await using"
	case int(t) < len(symbols):
		return symbols[t]
	}
	return ""
}
