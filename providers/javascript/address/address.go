// Package address takes out of addresses what must not be kept of them:
// credentials, fragments, and the values of queries and of parameters in paths. Of
// commands and headers it takes what names itself a credential.
// What is left names what is asked for and by which keys. Parts that vary stand
// as {} in addresses and are cut like others.
package address

import "strings"

// Clean is an address without what must not be kept of it. The whole text is
// taken for one address, also where no scheme tells it.
func Clean(text string) string {
	c := cutter{text: text}
	c.address(0, len(text))
	return c.rest()
}

// Text is a text of a program in which addresses are cleaned wherever they stand:
// with a scheme, after "//" with credentials, as paths, and as the end of one that
// begins with "?" or "&". All else is as it was.
func Text(text string) string {
	if !strings.ContainsAny(text, "?&#\\,/@") && !credential(text) {
		return text
	}
	c := cutter{text: text}
	c.tokens()
	return c.rest()
}

// Texts cleans every one of several texts.
func Texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Text(s)
	}
	return out
}

// Piece is what is kept of a part of an address that is put together: before and after
// are the texts around the part.
func Piece(before, part, after string) string {
	if before == "" && after == "" {
		return Text(part)
	}
	c := cutter{text: before + part + after}
	c.tokens()
	c.floor = len(before)
	c.cut(len(before)+len(part), len(c.text))
	return Text(c.rest())
}

// A span of a text that is cut out.
type span struct{ start, end int }

type cutter struct {
	text  string
	floor int    // what comes before is left out
	cuts  []span // in order of their begins
}

func (c *cutter) cut(start, end int) {
	if start < end {
		c.cuts = append(c.cuts, span{start, end})
	}
}

func (c *cutter) rest() string {
	at := c.floor
	var b strings.Builder
	for _, s := range c.cuts {
		if s.start > at {
			b.WriteString(c.text[at:s.start])
		}
		at = max(at, s.end)
	}
	if at == 0 {
		return c.text
	}
	b.WriteString(c.text[min(at, len(c.text)):])
	return b.String()
}

// ends reports bytes at which an address in a text ends.
func ends(b byte) bool {
	return b <= ' ' || b == '"' || b == '\'' || b == '`' || b == '<' || b == '>'
}

// tokens looks at what stands between spaces and quotes. A text that is an
// address from its begin on is one, whatever stands in its values.
func (c *cutter) tokens() {
	lead := len(c.text) - len(strings.TrimLeft(c.text, " \t\r\n"))
	if at := strings.Index(c.text, "://"); at > lead && scheme(c.text[lead:at]) && !strings.ContainsAny(c.text, "\r\n<>") {
		c.address(lead, len(c.text))
		return
	}
	if n := payload(c.text); n > 0 && !strings.ContainsAny(c.text[lead:n], " \t\r\n") {
		c.address(lead, len(c.text))
		return
	}
	what := none
	for i := 0; i < len(c.text); {
		if ends(c.text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(c.text) && !ends(c.text[end]) {
			end++
		}
		cut := false
		if cut, what = c.credentials(i, end, what); !cut {
			c.token(i, end)
		}
		i = end
	}
}

func scheme(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) && !strings.ContainsRune("+-.:", rune(s[i])) {
			return false
		}
	}
	return s != "" && letter(s[0])
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func digit(b byte) bool { return b >= '0' && b <= '9' }

// token cleans what may be an address.
func (c *cutter) token(start, end int) {
	text := c.text[start:end]
	if at := strings.Index(text, "//"); at >= 0 && (at == 0 || strings.Contains(text, "://")) {
		c.address(start, end)
		return
	}
	if payload(text) > 0 || strings.Contains(text, ":") && special(text) > 0 {
		c.address(start, end)
		return
	}
	mark := strings.IndexAny(text, "?#")
	rooted := strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
	if strings.HasPrefix(text, "&") && pair(text[1:]) {
		c.query(start+1, end)
		return
	}
	if mark < 0 {
		if at := strings.IndexByte(text, ';'); at > 0 && path(text) && (rooted || strings.HasPrefix(strings.ToLower(text[at:]), ";jsessionid=")) {
			c.address(start, end)
		}
		return
	}
	if !path(text[:mark]) {
		return
	}
	switch {
	case text[mark] == '#' && !rooted:
	case text[mark] == '#', pair(text[mark+1:]):
		c.address(start, end)
	case rooted && mark+1 < len(text) && text[mark+1] != '/': // "/:a?/b" is a pattern
		c.address(start, end)
	case rooted && strings.ContainsAny(text[mark:], "=#"):
		c.address(start, end)
	}
}

// path reports whether a text can be the path of an address.
func path(s string) bool {
	for i := range len(s) {
		if b := s[i]; !letter(b) && !digit(b) && b < 0x80 && strings.IndexByte("/._~%:@!$,;=*+-{}[]", b) < 0 {
			return false
		}
	}
	return true
}

// pair reports whether a text begins with a key and its value.
func pair(s string) bool {
	at := strings.IndexByte(s, '=')
	if at <= 0 {
		return false
	}
	for i := range at {
		if b := s[i]; !letter(b) && !digit(b) && b < 0x80 && strings.IndexByte("_.-~%[]{}:$", b) < 0 {
			return false
		}
	}
	return true
}

// address cleans one address. As in the URL standard its authority ends at the
// first "/", "\", "?" or "#"; one whose port is none has credentials up to the
// last "@".
func (c *cutter) address(start, end int) {
	text := c.text[start:end]
	if n := payload(text); n > 0 {
		c.cut(start+n, end)
		return
	}
	at := 0
	if i := strings.Index(text, "://"); i >= 0 && scheme(strings.TrimLeft(text[:i], " \t\r\n([{,=")) {
		at = i + 3
	} else if i >= 0 && !strings.ContainsAny(text[:i], "/?#") {
		at = i + 3
	} else if strings.HasPrefix(strings.TrimLeft(text, " "), "//") {
		at = strings.Index(text, "//") + 2
	} else if n := special(text); n > 0 {
		at = n
	}
	if at > 0 {
		for at < len(text) && (text[at] == '/' || text[at] == '\\') { // browsers take any number of them
			at++
		}
		at = c.authority(start, start+at, end) - start
	}
	query := len(text)
	if i := strings.IndexAny(text[at:], "?#"); i >= 0 {
		query = at + i
	}
	for i := at; i < query; { // parameters in the path
		next := query
		if j := strings.IndexAny(text[i:query], ";/\\"); j >= 0 {
			next = i + j
		}
		if i > at && text[i-1] == ';' {
			if eq := strings.IndexByte(text[i:next], '='); eq >= 0 {
				c.cut(start+i+eq+1, start+next)
			}
		}
		i = next + 1
	}
	switch {
	case query == len(text):
	case text[query] == '#':
		c.cut(start+query, end)
	default:
		c.query(start+query+1, end)
	}
}

// special is how much of a text are the scheme of a special URL and what stands
// before its authority where that isn't two slashes: in them "\" is "/" too, and any
// number of both, also none, 0 where the text is none such.
func special(text string) int {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	lead := len(text) - len(trimmed)
	if strings.HasPrefix(trimmed, `\\`) || strings.HasPrefix(trimmed, `\/`) || strings.HasPrefix(trimmed, `/\`) {
		return lead + 2
	}
	colon := strings.IndexByte(trimmed, ':')
	if colon < 2 || colon > 5 || colon+1 == len(trimmed) {
		return 0
	}
	switch strings.ToLower(trimmed[:colon]) {
	case "http", "https", "ws", "wss", "ftp":
	default:
		return 0
	}
	switch rest := trimmed[colon+1:]; {
	case rest[0] == '/' || rest[0] == '\\':
		return lead + colon + 2
	case strings.Contains(rest, "@"): // where no page has the same scheme, an authority
		return lead + colon + 1
	}
	return 0
}

// payload is where the data of a data URL begin, 0 for all else.
func payload(text string) int {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if len(trimmed) < 5 || !strings.EqualFold(trimmed[:5], "data:") {
		return 0
	}
	lead := len(text) - len(trimmed)
	if comma := strings.IndexByte(trimmed, ','); comma >= 0 {
		return lead + comma + 1
	}
	return 0
}

// authority cuts credentials, and gives where the host begins.
func (c *cutter) authority(_, at, end int) int {
	text := c.text[at:end]
	stop := len(text)
	if i := strings.IndexAny(text, "/\\?#"); i >= 0 {
		stop = i
	}
	host := strings.LastIndexByte(text[:stop], '@') + 1
	if host == 0 && !strings.HasPrefix(text, "[") {
		_, port, ok := strings.Cut(text[:stop], ":")
		if ok && port != "" && strings.Trim(port, "0123456789{}*") != "" {
			host = strings.LastIndexByte(text, '@') + 1
		}
	}
	c.cut(at, at+host)
	return at + host
}

// maxKey bounds what is kept as a key of a query.
const maxKey = 100

// query cuts the values of a query, and the fragment behind it. What has no key
// is a value.
func (c *cutter) query(start, end int) {
	if i := strings.IndexByte(c.text[start:end], '#'); i >= 0 {
		defer c.cut(start+i, end)
		end = start + i
	}
	for at := start; at < end; {
		next := end
		if i := strings.IndexAny(c.text[at:end], "&;"); i >= 0 {
			next = at + i
		}
		eq := strings.IndexByte(c.text[at:next], '=')
		if eq > 0 && eq <= maxKey {
			c.cut(at+eq+1, next)
		} else {
			c.cut(at, min(next+1, end))
		}
		at = next + 1
	}
}
