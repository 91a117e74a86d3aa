package application_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// Next.js makes routes of the places of files.
func TestRoutesOfFiles(t *testing.T) {
	page, api := "export default function Page() { return null }", "export async function GET() {} export function POST() {}"
	a := analyze(t, write(t, map[string]string{
		"package.json":   `{"name": "site", "dependencies": {"next": "15.0.0"}}`,
		"pages/index.js": page, "pages/_app.js": page, "pages/blog/[slug].js": page, "pages/blog/index.tsx": page, "pages/api/hello.js": page, "pages/about.test.js": page,
		"src/app/page.jsx": page, "src/app/(shop)/cart/page.js": page, "src/app/@modal/(.)photo/page.js": page, "src/app/@side/news/page.js": page, "src/app/_lib/page.js": page,
		"src/app/docs/[[...path]]/page.js": page, "src/app/api/items/route.js": api, "src/app/layout.js": page,
		".next/server/app/built/page.js": page, "lib/pages/other.js": page, "node_modules/x/pages/y.js": page,
	}))
	want := []string{"/", "/api/hello", "/api/items", "/blog", "/blog/[slug]", "/built", "/cart", "/docs/[[...path]]", "/news"}
	var got []string
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindRoute {
			got = append(got, label(n))
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	for i := range a.Graph.Edges {
		if e := &a.Graph.Edges[i]; label(&a.Graph.Nodes[e.To]) == "/api/items" && string(e.Properties["methods"]) != `["GET","POST"]` {
			t.Errorf("methods are %s", e.Properties["methods"])
		}
	}
	if other := rows(analyze(t, write(t, map[string]string{"package.json": `{"name": "none"}`, "pages/index.js": page})), "route"); len(other) > 0 {
		t.Errorf("routes without Next.js: %q", other)
	}
}
