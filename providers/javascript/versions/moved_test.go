package versions

import "testing"

// A small file whose layout and name changed moved; one of several that are alike
// is not guessed.
func TestSmallFilesMove(t *testing.T) {
	for _, tt := range []struct {
		name       string
		old, later map[string]string
		want       Status
	}{
		{"renamed", map[string]string{"ren.js": "exports.k = {a:1,b:2}; // c\n", "x.js": "exports.x = 1"}, map[string]string{"moved.js": "exports.k={a:1,b:2}", "x.js": "exports.x = 1"}, Moved},
		{"other value", map[string]string{"ren.js": "exports.k = {a:1,b:2}; // c\n"}, map[string]string{"moved.js": "exports.k={a:1,b:3}"}, Removed},
		{"two", map[string]string{"ren.js": "exports.k = {a:1,b:2}; // c\n"}, map[string]string{"moved.js": "exports.k={a:1,b:2}", "also.js": "exports.k={a:1, b:2}"}, Removed},
		{"other load", map[string]string{"ren.js": "exports.k = require('a'); // c\n"}, map[string]string{"moved.js": "exports.k=require('b')"}, Removed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, later := analyzed(t, folder(t, tt.old)), analyzed(t, folder(t, tt.later))
			c, err := Compare(t.Context(), old, later)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Items {
				if it := &c.Items[i]; it.Left >= 0 && old.Label(it.Left) == "ren.js" && it.Status != tt.want {
					t.Errorf("%s (%s), want %s", it.Status, it.Reason, tt.want)
				}
			}
		})
	}
}
