package swiftname

import (
	"strings"
	"testing"
)

// vectors are names and readable forms as the mangling's public description
// and its compiler's behaviour define them.
var vectors = []struct{ name, want string }{
	{"$s4main3fooyyF", "main.foo() -> ()"},
	{"_$s4main3fooyyF", "main.foo() -> ()"},
	{"$s4main3foo1xS2i_tF", "main.foo(x: Swift.Int) -> Swift.Int"},
	{"$s4main3FooVMa", "type metadata accessor for main.Foo"},
	{"$s4main3FooCMn", "nominal type descriptor for main.Foo"},
	{"$s4main3FooVN", "type metadata for main.Foo"},
	{"$sSiN", "type metadata for Swift.Int"},
	{"$s4main3FooVSQAAMc", "protocol conformance descriptor for main.Foo : Swift.Equatable in main"},
	{"$s4main3FooVSQAAWP", "protocol witness table for main.Foo : Swift.Equatable in main"},
	{"$s4main1xSivp", "main.x : Swift.Int"},
	{"$s4main1xSivg", "main.x.getter : Swift.Int"},
	{"$s4main1xSivau", "main.x.unsafeMutableAddressor : Swift.Int"},
	{"$s4main3FooC1xSivpWvd", "direct field offset for main.Foo.x : Swift.Int"},
	{"$s4main3fooyyYaF", "main.foo() async -> ()"},
	{"$s4main3fooyyKF", "main.foo() throws -> ()"},
	{"$s4main3fooyyYaKF", "main.foo() async throws -> ()"},
	{"$ss5print_9separator10terminatoryypd_S2StF", "Swift.print(_: Any..., separator: Swift.String, terminator: Swift.String) -> ()"},
	{"$sSa6appendyyxnF", "Swift.Array.append(__owned A) -> ()"},
	{"$sSayxSicig", "Swift.Array.subscript.getter : (Swift.Int) -> A"},
	{"$sSaySiGD", "[Swift.Int]"},
	{"$sSDySSSiGD", "[Swift.String : Swift.Int]"},
	{"$sSiSgD", "Swift.Int?"},
	{"$s4main3fooyySaySSGSgF", "main.foo([Swift.String]?) -> ()"},
	{"_T03foo3barC3bas3zimyAaEC_tFTo", "@objc foo.bar.bas(zim: foo.zim) -> ()"},
	{"_T0SC3fooyS2d_SdtFTO", "@nonobjc __C_Synthesized.foo(Swift.Double, Swift.Double) -> Swift.Double"},
	{"_T03foo3barCfD", "foo.bar.__deallocating_deinit"},
	{"_T03foo3barCfd", "foo.bar.deinit"},
	{"_T03foo3barCACycfC", "foo.bar.__allocating_init() -> foo.bar"},
	{"_T03foo3barCACycfc", "foo.bar.init() -> foo.bar"},
	{"$s4main3FooVACycfC", "main.Foo.init() -> main.Foo"},
	{"$s4main3fooyyxlF", "main.foo<A>(A) -> ()"},
	{"$s4main3fooyyxSHRzlF", "main.foo<A where A: Swift.Hashable>(A) -> ()"},
	{"$s4main3fooyyx_q_tr0_lF", "main.foo<A, B>(A, B) -> ()"},
	{"$s4main1poiyS2i_SitF", "main.+ infix(Swift.Int, Swift.Int) -> Swift.Int"},
	{"$s4main3fooyyFyycfU_", "closure #1 () -> () in main.foo() -> ()"},
	{"$s4main3fooyyF3barL_yyF", "bar #1 () -> () in main.foo() -> ()"},
	{"$s4main3foo33_0123456789ABCDEF0123456789ABCDEFLLyyF", "main.(foo in _0123456789ABCDEF0123456789ABCDEF)() -> ()"},
	{"$s4main3FooV3baryyFZ", "static main.Foo.bar() -> ()"},
	{"$sSi4mainE3fooyyF", "(extension in main):Swift.Int.foo() -> ()"},
	{"$s4main1PPAAE3fooyyF", "(extension in main):main.P.foo() -> ()"},
	{"$s4main1PMp", "protocol descriptor for main.P"},
	{"$s4main3fooyyypF", "main.foo(Any) -> ()"},
	{"$s4main3fooyyAA1P_pF", "main.foo(main.P) -> ()"},
	{"$s4main3fooyyAA1P_AA1QpF", "main.foo(main.P & main.Q) -> ()"},
	{"$s4main3fooyyyXlF", "main.foo(Swift.AnyObject) -> ()"},
	{"$s4main3fooyySimF", "main.foo(Swift.Int.Type) -> ()"},
	{"$s4main3fooyySizF", "main.foo(inout Swift.Int) -> ()"},
	{"$s4main3fooyyyyXEF", "main.foo(() -> ()) -> ()"},
	{"$s4main3fooyyS2icF", "main.foo((Swift.Int) -> Swift.Int) -> ()"},
	{"$s4main1fyS2icvp", "main.f : (Swift.Int) -> Swift.Int"},
	{"$s4main3fooSi_SStyF", "main.foo() -> (Swift.Int, Swift.String)"},
	{"$s4main3fooSi1a_SS1btyF", "main.foo() -> (a: Swift.Int, b: Swift.String)"},
	{"$s4main5OuterV5InnerV3fooyyF", "main.Outer.Inner.foo() -> ()"},
	{"$s4main5OuterVyxGD", "main.Outer<A>"},
	{"$s4main5OuterV5InnerVySi_SSGD", "main.Outer<Swift.Int>.Inner<Swift.String>"},
	{"$s4main3FooVwcp", "initializeWithCopy value witness for main.Foo"},
	{"$s4main3FooVWV", "value witness table for main.Foo"},
	{"$s4main3FooVMF", "reflection metadata field descriptor main.Foo"},
	{"$s4main3FooC3baryyFTj", "dispatch thunk of main.Foo.bar() -> ()"},
	{"$s4main3FooC3baryyFTq", "method descriptor for main.Foo.bar() -> ()"},
	{"$s4main3FooCAA1PA2aDP3baryyFTW", "protocol witness for main.P.bar() -> () in conformance main.Foo : main.P in main"},
	{"$s4main3fooyyFTA", "partial apply forwarder for main.foo() -> ()"},
	{"$s4main3fooyyFTm", "merged main.foo() -> ()"},
	{"$s4main3fooyyxlFSi_Tg5", "generic specialization <Swift.Int> of main.foo<A>(A) -> ()"},
	{"$s4main1x_WZ", "one-time initialization function for x"},
	{"$s4main3foo1xySi_tFfA_", "default argument 0 of main.foo(x: Swift.Int) -> ()"},
	{"$sSo8NSObjectCMa", "type metadata accessor for __C.NSObject"},
	{"$sS2iIegyd_S2iIegnr_TR", "reabstraction thunk helper from @escaping @callee_guaranteed (@unowned Swift.Int) -> (@unowned Swift.Int) to @escaping @callee_guaranteed (@in_guaranteed Swift.Int) -> (@out Swift.Int)"},
	{"$sSci4mainMc", ""},
	{"$sScTss5NeverORszABRs_rlE3fooyyF", "(extension in Swift):Swift.Task< where A == Swift.Never, B == Swift.Never>.foo() -> ()"},
	{"$s4main3FooV3BarOWOe", "outlined consume of main.Foo.Bar"},
	{"$s4main3fooyyF.resume.0", `main.foo() -> () with unmangled suffix ".resume.0"`},
	{"_TtC4main3Foo", "main.Foo"},
	{"_TtCC4main5Outer5Inner", "main.Outer.Inner"},
	{"_TtP4main5Proto_", "main.Proto"},
	{"_TtCs12_SwiftObject", "Swift._SwiftObject"},
	{"_TtC4mainP33_0123456789ABCDEF0123456789ABCDEF3Foo", "main.(Foo in _0123456789ABCDEF0123456789ABCDEF)"},
}

func TestDemangle(t *testing.T) {
	for _, v := range vectors {
		got, ok := Demangle(v.name)
		if got != v.want || ok != (v.want != "") {
			t.Errorf("%s\n got %q\nwant %q", v.name, got, v.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, s := range []string{"", "$s", "$S", "main", "_Z1fv", "$s4mai", "$s99999999999x", "$sA", "_Tt", "_TtC", "_TtP4main3Foo", "$s" + strings.Repeat("Sg", 5000)} {
		if got, ok := Demangle(s); ok {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// TestSubstitutionsDoNotExplode doubles a tuple with every letter.
func TestSubstitutionsDoNotExplode(t *testing.T) {
	s := "$s4main1xV"
	for range 40 {
		s += "_AAt"
	}
	if got, ok := Demangle(s + "D"); ok && len(got) > maxOutput {
		t.Errorf("%d bytes", len(got))
	}
	if _, ok := Demangle("$sSi" + strings.Repeat("Sg", 1500) + "D"); ok {
		t.Error("a type is nested 1500 times")
	}
}

func FuzzDemangle(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, ok := Demangle(name)
		if ok && (got == "" || len(got) > maxOutput) {
			t.Errorf("%q: %d bytes", name, len(got))
		}
	})
}
