package shape_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rea/providers/javascript/shape"
)

// What a side may have without showing it is not called removed or added.
func TestMembersThatAreNotSeen(t *testing.T) {
	for _, tt := range []struct {
		name, left, right string
		want              shape.Status
	}{
		{"removed", "x = {a: 1, b: 2}", "x = {a: 1}", shape.Removed},
		{"spread", "x = {a: 1, b: 2}", "x = {a: 1, ...y}", shape.Unknown},
		{"inherited", "x = class {m() {} n() {}}", "x = class extends Y {m() {}}", shape.Unknown},
		{"given_up", "x = class {m() {} n() {}}", "x = class {m() {}}", shape.Removed},
		{"of_the_closed_side", "x = {b: 2, ...y}", "x = {}", shape.Removed},
		{"elements", "x = [1, 2]", "x = [...y]", shape.Unknown},
		{"returns", "x = () => 1", "x = function () { if (a) return b(); return 1 }", ""},
		{"returns_unseen", "x = function () { if (a) return 'a'; return 1 }", "x = function () { if (a) return b(); return 1 }", shape.Unknown},
		{"returns_less", "x = function () { if (a) return 'a'; return 1 }", "x = function () { return 1 }", shape.Removed},
		{"returns_nothing_seen", "x = function () { return 1 }", "x = function () { return b() }", shape.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := shape.Compare(jsontext.Value(shapeOf(t, tt.left)), jsontext.Value(shapeOf(t, tt.right)))
			found := tt.want == ""
			for _, c := range d.Changes {
				found = found || c.Status == tt.want
				if tt.want == shape.Unknown && c.Status == shape.Removed {
					t.Errorf("%s is called removed", c.Path)
				}
			}
			if !found {
				t.Errorf("nothing is %s: %v", tt.want, d.Changes)
			}
		})
	}
}
