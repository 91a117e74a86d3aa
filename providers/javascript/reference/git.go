package reference

import (
	"io"
	"os"
	"regexp"
	"strings"

	"rea/generated/model"
)

var commitID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// maxRefs bounds what is read of a file of git.
const maxRefs = 1 << 20

// revision is the revision that a checkout of git stands at, read from its own
// files. Nothing is run, and no file outside of the folder is opened.
func revision(name string) model.HistoricalSourceVcs {
	none := model.HistoricalSourceVcs{Kind: model.HistoricalSourceVcsKindNone}
	root, err := os.OpenRoot(name)
	if err != nil {
		return none
	}
	defer root.Close()
	head, ok := small(root, ".git/HEAD")
	if !ok {
		return none
	}
	out := model.HistoricalSourceVcs{Kind: model.HistoricalSourceVcsKindGit}
	if commitID.MatchString(head) {
		out.Revision = &head
		return out
	}
	ref, ok := strings.CutPrefix(head, "ref: ")
	if !ok || !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
		return out
	}
	ref = strings.ToValidUTF8(ref, "\ufffd")
	out.Reference = &ref
	if id, ok := small(root, ".git/"+ref); ok && commitID.MatchString(id) {
		out.Revision = &id
		return out
	}
	packed, _ := small(root, ".git/packed-refs")
	for line := range strings.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref && commitID.MatchString(id) {
			out.Revision = &id
		}
	}
	return out
}

func small(root *os.Root, name string) (string, bool) {
	f, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRefs))
	return strings.TrimSpace(string(data)), err == nil
}
