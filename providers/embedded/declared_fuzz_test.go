package embedded

import "testing"

func FuzzDeclarationOf(f *testing.F) {
	for _, s := range []string{
		"_Z3addii", "_ZNK4base3getEi", "_ZN4bothC2EiPKc", "_ZN5space4pickIdEET_S1_PS1_b", "__ZN1a1bEdf", "_Z8by_value4pairi", "_Z1fM1AFviE", "_ZN1a1bEi.cold",
		"_ZZN1a1bEvENKUliE_clEi", "_Z1fIJidEEvDpT_", "_Z1fIiEDTcl1gfp_EET_", "_ZN1A1fEv",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := declarationOf(s); d != nil && len(d.parameters) > mostNameParameters {
			t.Fatalf("%d parameters", len(d.parameters))
		}
	})
}
