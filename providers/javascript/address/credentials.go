package address

import "strings"

// What a word of a command or a header says of the next.
type next int

const (
	none          next = iota
	value              // it is a credential
	user               // it is a user, who may have a password behind a colon
	authorization      // it is the name of a scheme, before a credential, or one itself
)

// credential reports whether a text may have credentials that are in no address.
func credential(text string) bool {
	return strings.Contains(text, "=") || strings.HasPrefix(text, "Bearer ") || strings.HasPrefix(text, "Basic ") ||
		strings.Contains(text, ":") && (strings.Contains(text, "-u") || strings.Contains(text, "uthorization") || strings.Contains(text, "-")) ||
		strings.Contains(text, " --") || strings.HasPrefix(text, "--")
}

// secrets end the names of what is a credential.
var secrets = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "authkey", "credential", "credentials", "authorization"}

// secret reports whether a name says that its value is a credential.
func secret(name string) bool {
	if len(name) > maxKey {
		return false
	}
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for _, s := range secrets {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// credentials cuts a word that is a credential by what the one before it said, or by
// what it says itself; it tells what it says of the next.
func (c *cutter) credentials(start, end int, what next) (cut bool, then next) {
	word := c.text[start:end]
	switch what {
	case value:
		if word[0] == '-' && len(word) > 1 { // an option of its own
			break
		}
		c.cut(start, end)
		return true, none
	case user:
		if at := strings.IndexByte(word, ':'); at > 0 && strings.Trim(word, "0123456789:") != "" && !strings.Contains(word, "://") {
			c.cut(start+at+1, end)
			return true, none
		}
	case authorization:
		if end+1 < len(c.text) && c.text[end] == ' ' && !ends(c.text[end+1]) && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz-") == "" {
			return true, value
		}
		c.cut(start, end)
		return true, none
	}
	switch word {
	case "-u", "-U", "--user", "--proxy-user":
		return true, user
	case "Bearer", "Basic":
		if start == 0 && len(c.text)-end > 6 && strings.IndexFunc(c.text[end+1:], func(r rune) bool { return r <= ' ' }) < 0 {
			return true, value
		}
	}
	option := strings.TrimLeft(word, "-")
	if name, ok := strings.CutSuffix(option, ":"); ok && secret(name) { // of a header
		if strings.HasSuffix(strings.ToLower(name), "authorization") {
			return true, authorization
		}
		return true, value
	}
	if at := strings.IndexAny(option, "=:"); at > 0 {
		from := start + len(word) - len(option) + at + 1
		switch name := option[:at]; {
		case option[at] == '=' && (name == "user" || name == "proxy-user") && option != word:
			if colon := strings.IndexByte(option, ':'); colon > 0 {
				c.cut(start+len(word)-len(option)+colon+1, end)
				return true, none
			}
		case !secret(name):
		case option[at] == ':' && strings.EqualFold(name, "authorization"), option[at] == '=' && !strings.Contains(option, "&"):
			c.cut(from, end)
			return true, none
		}
		if !strings.ContainsAny(option, "?/") && strings.Contains(option, "&") {
			for _, part := range strings.Split(option, "&") {
				if key, _, ok := strings.Cut(part, "="); ok && secret(key) { // a query without its mark
					c.query(start, end)
					return true, none
				}
			}
		}
		return false, none
	}
	if strings.HasPrefix(word, "--") && secret(option) {
		return true, value
	}
	return false, none
}
