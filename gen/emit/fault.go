package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"rea/gen/ir"
)

// faults emits generated/fault: for each code
//
//	// ProcedureNotFoundCode: No procedure has this name.
//	const ProcedureNotFoundCode Code = "procedure_not_found"
//
//	func ProcedureNotFound(d ProcedureNotFoundDetails, cause error) error {
//		message := `no procedure matches ` + quote(d.Selector)
//		return &Error{…}
//	}
//
// and the details type.
func faults(api *ir.API) stems {
	s := declared(api, "fault")
	for _, x := range api.Faults {
		f := s.file(x.Code)
		doc(f, x.Go+"Code", x.Doc)
		f.Const().Id(x.Go + "Code").Id("Code").Op("=").Lit(x.Code)
		doc(f, x.Go, x.Doc)
		f.Func().Id(x.Go).Params(jen.Id("d").Id(x.Details.Name), jen.Id("cause").Error()).Error().Block(
			jen.Return(jen.Op("&").Id("Error").Add(diagnostic(x))))
	}
	f := s.file("codes")
	f.Comment("Codes are all there are, sorted.")
	f.Func().Id("Codes").Params().Index().Id("Code").Block(jen.Return(jen.Index().Id("Code").ValuesFunc(func(g *jen.Group) {
		for _, x := range api.Faults {
			g.Line().Id(x.Go + "Code")
		}
		g.Line()
	})))
	return s
}

func diagnostic(x *ir.Fault) *jen.Statement {
	var d fields
	d.set("Code", jen.Id(x.Go+"Code"))
	d.set("Category", jen.Id(categoryGo[x.Category]))
	d.set("Message", sentence(x.Message))
	d.flag("Retryable", x.Retryable)
	var remediation fields
	remediation.set("Action", sentence(x.Action))
	remediation.flag("RestartRequired", x.Restart)
	d.set("Remediation", jen.Id("Remediation").Add(remediation.inline()))
	d.set("Details", jen.Op("&").Id("d"))
	d.set("Cause", jen.Id("cause"))
	return d.values()
}

// categoryGo are the constants of generated/fault/fault.go.
var categoryGo = map[string]string{
	"invalid_input":        "InvalidInput",
	"unsupported_provider": "UnsupportedProvider",
	"integrity_mismatch":   "IntegrityMismatch",
	"truncated":            "Truncated",
	"cancelled":            "CategoryCancelled",
	"timeout":              "Timeout",
	"unavailable":          "Unavailable",
	"execution_failure":    "Execution",
}

// sentence is the expression that writes a message or an action.
func sentence(parts []ir.Part) *jen.Statement {
	expr := jen.Null()
	for i, p := range parts {
		if i > 0 {
			expr.Op("+")
		}
		switch {
		case p.Field == nil:
			expr.Lit(p.Text)
		case p.Plain:
			expr.Id("plain").Call(jen.Id("d").Dot(p.Field.Go))
		default:
			expr.Id("shown").Call(jen.Id("d").Dot(p.Field.Go))
		}
	}
	return expr
}

// unexported begins a name in lower case: "URLOf" becomes "urlOf".
func unexported(name string) string {
	i := 1
	for i < len(name) && name[i] >= 'A' && name[i] <= 'Z' && (i+1 == len(name) || name[i+1] >= 'A' && name[i+1] <= 'Z') {
		i++
	}
	return strings.ToLower(name[:i]) + name[i:]
}
