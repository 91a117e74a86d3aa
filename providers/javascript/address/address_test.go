package address_test

import (
	"strings"
	"testing"

	"rea/providers/javascript/address"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"https://u:S@h.example/a/b?x=S&y=S#S", "https://h.example/a/b?x=&y="},
		{"HTTPS://U:S@H.example/?A=S", "HTTPS://H.example/?A="},
		{"//u:S@h.example/p?x=S", "//h.example/p?x="},
		{"postgres://admin:S@db.example:5432/x?sslkey=S", "postgres://db.example:5432/x?sslkey="},
		{"mongodb+srv://root:S@cluster/x", "mongodb+srv://cluster/x"},
		{"blob:https://u:S@h/?x=S", "blob:https://h/?x="},
		{" https://u:S@h/?x=S S", " https://h/?x="},
		{"https://u:S#S@h.example/a", "https://h.example/a"},
		{"https://u:S/S@h.example/a", "https://h.example/a"},
		{"https://h:8080/a@b", "https://h:8080/a@b"},
		{"https://[::1]:80/a@b", "https://[::1]:80/a@b"},
		{"https://h/p;jsession=S?x=S", "https://h/p;jsession=?x="},
		{"https://h/p;a=S;b=S/q", "https://h/p;a=;b=/q"},
		{"https://h/p?S", "https://h/p?"},
		{"https://h/p?a=S;b=S", "https://h/p?a=;b="},
		{"https://h/p?S&a=S", "https://h/p?a="},
		{"/events?tok=S", "/events?tok="},
		{"/events?S", "/events?"},
		{"/events#S", "/events"},
		{"api/x?key=S#S", "api/x?key="},
		{"?k=S&l=S#S", "?k=&l="},
		{"&y=S", "&y="},
		{"./w.js?v=S", "./w.js?v="},
		{"/t/{}?apikey=S&y={}", "/t/{}?apikey=&y="},
		{"curl -H 'X: 1' https://u:S@x.example/?t=S 'https://h/?t=S' -o a", "curl -H 'X: 1' https://x.example/?t= 'https://h/?t=' -o a"},
		{"--proxy=http://u:S@h:1/ next", "--proxy=http://h:1/ next"},
		{"report-uri https://h/r?key=S; default-src 'self'", "report-uri https://h/r?key=; default-src 'self'"},
		{`<a href="https://u:S@h/?x=S">see #1?</a>`, `<a href="https://h/?x=">see #1?</a>`},
		{`HTTPS:\\u:S@h\p?q=S`, `HTTPS:\\h\p?q=`},
		{`https:\/u:S@h/p;a=S\q`, `https:\/h/p;a=\q`},
		{`https:/u:S@h/p`, `https:/h/p`},
		{`wss:\u:S@h`, `wss:\h`},
		{"wss:S@h", "wss:h"}, {"see https:u:S@h/p?x=S", "see https:h/p?x="}, {"https:a/b", "https:a/b"},
		{"/ev;jsessionid=S", "/ev;jsessionid="}, {"ev;JSESSIONID=S/x", "ev;JSESSIONID=/x"}, {"./a;x=S;y", "./a;x=;y"},
		{"data:text/plain,S", "data:text/plain,"},
		{"DATA:text/plain;base64,S//S?S", "DATA:text/plain;base64,"},
		{" data:,S S", " data:,"},

		// Credentials of commands and headers.
		{"curl -u me:S https://h/y", "curl -u me: https://h/y"}, {"curl --user=me:S x", "curl --user=me: x"}, {"docker run -u 1000:1000 x", "docker run -u 1000:1000 x"},
		{`curl -H "Authorization: Bearer S" https://h/z`, `curl -H "Authorization: Bearer " https://h/z`}, {"Authorization: S", "Authorization: "}, {"Authorization:S", "Authorization:"},
		{"X-Api-Key: S", "X-Api-Key: "}, {"Bearer SSSSSSSS", "Bearer "}, {"Basic SSSSSSSS=", "Basic "}, {"mysql --password=S -h h", "mysql --password= -h h"},
		{"login --token S --verbose", "login --token  --verbose"}, {"login --token --verbose", "login --token --verbose"}, {"access_token=S", "access_token="},
		{"grant=a&client_secret=S", "grant=&client_secret="}, {"API_KEY=S cmd", "API_KEY= cmd"},
		{"Basic Latin letters", "Basic Latin letters"}, {"Bearer token is missing", "Bearer token is missing"}, {"user: name", "user: name"}, {"a=b", "a=b"},
		{"--max-tokens=5", "--max-tokens=5"}, {"tokenizer=x", "tokenizer=x"},
		{"text/html;charset=utf-8", "text/html;charset=utf-8"}, {"path=/;secure;samesite=lax", "path=/;secure;samesite=lax"},

		// No addresses.
		{`C:\a\b@c`, `C:\a\b@c`}, {`\d+:\w@`, `\d+:\w@`}, {"a, b", "a, b"}, {"data: one, two", "data: one, two"},
		{"#root", "#root"}, {"a[href='#x']", "a[href='#x']"}, {"Really? Yes & no = maybe #1", "Really? Yes & no = maybe #1"},
		{"/users/:id?", "/users/:id?"}, {"/:lang?/docs", "/:lang?/docs"}, {"^/(a|b)?c#d", "^/(a|b)?c#d"}, {"(?<name>a=b)", "(?<name>a=b)"},
		{"// a comment", "// a comment"}, {"save#now", "save#now"}, {"a && b", "a && b"}, {"x@y.example", "x@y.example"}, {"", ""},
	} {
		if got := address.Text(tt.text); got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a b?S S=S&x=S S", "a b?S S=&x="}, {"p?S", "p?"}, {"p#S", "p"}, {"?S", "?"}, {"a/b", "a/b"}, {"https://u@h", "https://h"},
	} {
		if got := address.Clean(tt.text); got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestPiece(t *testing.T) {
	for _, tt := range []struct{ before, part, after, want string }{
		{"https://h/{}", "?tok=S", "", "?tok="}, {"https://h/{}?tok={}", "#S", "", ""}, {"https://h/?a=", "S", "", ""}, {"https://{}:", "S@h/a", "", "h/a"},
		{"", "#root", "", "#root"}, {"div", "#root", "", "#root"}, {"https://h", "/a", "", "/a"}, {"-u ", "me:S", "", "me:"}, {"authorization: ", "Basic S", "", "Basic "}, {"?", "user=S", "", "user="}, {"--token ", "S", "", ""},
		{"https://u:", "S", "@h/", ""}, {"", "https://u:", "S@h/", "https://"}, {"https://", "h", "/a@b", "h"}, {"", "https://h/", "{}", "https://h/"}, {"https://u:S", "@h/", "a", "h/"},
	} {
		if got := address.Piece(tt.before, tt.part, tt.after); got != tt.want {
			t.Errorf("%q after %q gives %q, want %q", tt.part, tt.before, got, tt.want)
		}
	}
}

// FuzzText: what is kept is part of the text, and clean.
func FuzzText(f *testing.F) {
	for _, s := range []string{"https://u:p@h/a;b=c?d=e#f", "//@?#", "a://b:c/@d?e", "curl 'x://y' ?a=b&c;d", "&a=b#", "/a?/b?c=d", "://@://@", "a b://c:d@e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, clean := range []func(string) string{address.Text, address.Clean} {
			once := clean(s)
			rest := s
			for i := range len(once) {
				at := strings.IndexByte(rest, once[i])
				if at < 0 {
					t.Fatalf("%q gives %q, which is not part of it", s, once)
				}
				rest = rest[at+1:]
			}
		}
	})
}
