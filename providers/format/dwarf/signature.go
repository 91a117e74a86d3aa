package dwarf

import "strings"

// Variable is a parameter or a local variable.
type Variable struct {
	Name string
	Type string
	Line int
	// Location says where it lives when that is one place: "frame-24",
	// "register 5", "address 0x4010"; otherwise "".
	Location string
	Carrier  Carrier // of a parameter
}

// Signature is the declaration of a function and what it declares inside.
type Signature struct {
	Name       string
	Result     string
	Carrier    Carrier // of the result
	Parameters []Variable
	// Results are results that are written as parameters, as Go's are.
	Results  []Variable
	Variadic bool
	Locals   []Variable
	// Inlined are the names of functions inlined into it.
	Inlined []string
	// More tells that a bound was reached.
	More bool
}

// String writes the signature as a C declaration, or as a Go one when it has
// results of that kind.
func (s *Signature) String() string {
	if len(s.Results) > 0 {
		return s.goString()
	}
	parts := make([]string, 0, len(s.Parameters)+1)
	for _, p := range s.Parameters {
		parts = append(parts, strings.TrimSpace(p.Type+" "+p.Name))
	}
	if s.Variadic {
		parts = append(parts, "...")
	}
	if len(parts) == 0 {
		parts = []string{"void"}
	}
	return s.Result + " " + s.Name + "(" + strings.Join(parts, ", ") + ")"
}

func (s *Signature) goString() string {
	list := func(vs []Variable) string {
		parts := make([]string, 0, len(vs))
		for _, v := range vs {
			name := v.Name
			if strings.HasPrefix(name, "~") {
				name = ""
			}
			parts = append(parts, strings.TrimSpace(name+" "+v.Type))
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return "func " + s.Name + list(s.Parameters) + " " + list(s.Results)
}

// maxVariables bounds the parameters, locals and inlined calls of one function.
const maxVariables = 2000

// Signature reads the declaration of the function at r, as in Function.Ref.
func (d *Data) Signature(r Ref) (*Signature, bool) {
	u, e, w, ok := d.at(r)
	if !ok || e.tag != tagSubprogram {
		return nil, false
	}
	s := &Signature{}
	var f Function
	result, concrete := e.get(atType), *e
	concrete.vals = append([]attribute(nil), e.vals...)
	d.describe(u, &concrete, &f)
	s.Name = f.Name
	s.Result, s.Carrier = d.resultOf(u, &concrete, result)
	seen := map[string]bool{}
	inlineDepth := 1 << 30      // entries deeper than this belong to an inlined function
	origins := map[Ref]string{} // locations of parameters by abstract origin
	for concrete.kids {
		k, ok := w.next()
		if !ok || k.depth < 1 {
			break
		}
		if k.depth > inlineDepth {
			continue
		}
		inlineDepth = 1 << 30
		if len(s.Parameters)+len(s.Locals)+len(s.Inlined) >= maxVariables {
			s.More = true
			break
		}
		switch k.tag {
		case tagFormalParameter:
			if k.depth == 1 {
				into := &s.Parameters
				if k.flag(atVariableParameter) {
					into = &s.Results
				}
				v := d.variable(u, k)
				if o, ok := d.reference(u, k.get(atAbstractOrigin)); ok {
					origins[o] = v.Location
				}
				*into = append(*into, v)
			}
		case tagUnspecifiedParameters:
			s.Variadic = s.Variadic || k.depth == 1
		case tagVariable:
			if v := d.variable(u, k); v.Name != "" {
				s.Locals = append(s.Locals, v)
			}
		case tagInlinedSubroutine:
			var in Function
			d.describe(u, k, &in)
			if name := in.Name; name != "" && !seen[name] {
				seen[name] = true
				s.Inlined = append(s.Inlined, name)
			}
			inlineDepth = k.depth
		case tagSubprogram, tagStructureType, tagClassType, tagUnionType, tagEnumerationType, tagSubroutineType, tagArrayType:
			inlineDepth = k.depth
		}
	}
	d.orderParameters(u, &concrete, s, origins)
	return s, true
}

// orderParameters takes the parameters of a specialised function from its
// abstract instance: clones reorder, drop and repeat them.
func (d *Data) orderParameters(u *unit, e *entry, s *Signature, origins map[Ref]string) {
	r, ok := d.reference(u, e.get(atAbstractOrigin))
	if !ok {
		return
	}
	ou, oe, w, ok := d.at(r)
	if !ok || !oe.kids {
		return
	}
	var params, results []Variable
	for len(params)+len(results) < maxVariables {
		k, ok := w.next()
		if !ok || k.depth < 1 {
			break
		}
		if k.depth > 1 {
			continue
		}
		switch k.tag {
		case tagFormalParameter:
			v := d.variable(ou, k)
			if at, ok := origins[k.ref]; ok {
				v.Location = at
			}
			if k.flag(atVariableParameter) {
				results = append(results, v)
			} else {
				params = append(params, v)
			}
		case tagUnspecifiedParameters:
			s.Variadic = true
		}
	}
	if len(params)+len(results) > 0 {
		s.Parameters, s.Results = params, results
	}
}

// resultOf finds the result type on the entry or on what it specialises.
func (d *Data) resultOf(u *unit, e *entry, own attribute) (string, Carrier) {
	if own.ok {
		return d.typeOf(u, own), d.carrier(u, own)
	}
	for range chainLimit {
		next, ok := d.reference(u, e.get(atSpecification))
		if !ok {
			next, ok = d.reference(u, e.get(atAbstractOrigin))
		}
		if !ok {
			break
		}
		if u, e, _, ok = d.at(next); !ok {
			break
		}
		if t := e.get(atType); t.ok {
			return d.typeOf(u, t), d.carrier(u, t)
		}
	}
	return "void", CarrierNone
}

// variable reads a parameter or variable, whose name and type may be with its
// abstract origin.
func (d *Data) variable(u *unit, e *entry) Variable {
	v := Variable{Location: d.place(u, e.get(atLocation))}
	hasType := false
	for range chainLimit {
		if v.Name == "" {
			v.Name = clip(d.str(u, e.get(atName)))
		}
		if t := e.get(atType); t.ok && !hasType {
			v.Type, v.Carrier, hasType = d.typeOf(u, t), d.carrier(u, t), true
		}
		if l := e.get(atDeclLine); l.ok && v.Line == 0 && l.u < 1<<31 {
			v.Line = int(l.u)
		}
		next, ok := d.reference(u, e.get(atAbstractOrigin))
		if !ok {
			next, ok = d.reference(u, e.get(atSpecification))
		}
		if !ok {
			break
		}
		if u, e, _, ok = d.at(next); !ok {
			break
		}
	}
	return v
}
