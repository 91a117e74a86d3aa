package application_test

import (
	"strings"
	"testing"
)

// Files of very many statements take linear time: this one took a minute.
func TestManyStatements(t *testing.T) {
	a := analyze(t, write(t, map[string]string{"a.js": strings.Repeat("f(1);\n", 150_000)}))
	if len(a.Files) != 1 {
		t.Errorf("%d files", len(a.Files))
	}
}
