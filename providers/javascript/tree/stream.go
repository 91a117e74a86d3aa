package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"

	"rea/providers/format/asar"
	"rea/runtime/progress"
)

// stream adds a file with the bytes of a reader.
func (r *reader) stream(p string, src io.Reader, also hash.Hash, declared int64) error {
	progress.Report(r.ctx, "reading "+p)
	sum := sha256.New()
	into := io.Writer(sum)
	if also != nil {
		into = io.MultiWriter(sum, also)
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(src, head)
	head = head[:n]
	f := File{Path: p, Kind: kindOf(p, head), Size: int64(n)}
	if what := bytecode(p, head); what != "" {
		f.Kind, f.Reason = Other, "it is "+what+", which is not read"
		r.gap("program in "+p, -1, f.Reason)
	}
	into.Write(head)
	ended := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !ended {
		f.Reason = reasonOf(err)
		r.add(f)
		return nil
	}
	keep := f.Kind.Text() || f.Kind == Container && declared <= r.opts.MaxFileBytes
	if keep && f.Size > r.opts.MaxFileBytes {
		keep = false
		f.Reason = fmt.Sprintf("it has more than %d bytes", r.opts.MaxFileBytes)
	}
	var data []byte
	if keep {
		data = append(make([]byte, 0, clamp(declared, int64(n), r.opts.MaxFileBytes)), head...)
	}
	if r.buffer == nil {
		r.buffer = make([]byte, 256<<10)
	}
	buffer := r.buffer
	for !ended {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n, err := src.Read(buffer)
		into.Write(buffer[:n])
		f.Size += int64(n)
		if keep {
			if f.Size > r.opts.MaxFileBytes {
				keep, data = false, nil
				f.Reason = fmt.Sprintf("it has more than %d bytes", r.opts.MaxFileBytes)
			} else {
				data = append(room(data, n, declared), buffer[:n]...)
			}
		}
		if r.tree.Bytes+f.Size > r.opts.MaxTotalBytes {
			f.Reason = fmt.Sprintf("more than %d bytes in all", r.opts.MaxTotalBytes)
			r.full = true
			r.tree.Bytes += f.Size
			r.add(f)
			return nil
		}
		if err == io.EOF {
			ended = true
		} else if err != nil {
			f.Reason = err.Error()
			r.add(f)
			return nil
		}
	}
	r.tree.Bytes += f.Size
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if keep && f.Kind.Text() {
		if r.text+f.Size > r.opts.MaxTextBytes {
			keep, data = false, nil
			f.Reason = fmt.Sprintf("texts have more than %d bytes in all", r.opts.MaxTextBytes)
		} else {
			r.text += f.Size
		}
	}
	if keep {
		f.Data = data
		if data == nil {
			f.Data = []byte{}
		}
	}
	r.add(f)
	return nil
}

// room makes place for n more bytes. What was declared is made room for when half
// of it has been read.
func room(data []byte, n int, declared int64) []byte {
	need := len(data) + n
	if need <= cap(data) {
		return data
	}
	most := max(2*len(data), need)
	if declared >= int64(need) && declared < int64(most) {
		most = int(declared)
	}
	return append(make([]byte, 0, most), data...)
}

// clamp is a capacity to begin with for n declared bytes, which are only believed
// up to a mebibyte.
func clamp(n, least, most int64) int64 { return max(least, min(n, most, 1<<20)) }

func (r *reader) add(f File) {
	if len(r.tree.Files) >= r.opts.MaxFiles {
		r.full = true
		r.left++
		return
	}
	r.tree.Files = append(r.tree.Files, f)
}

func (r *reader) copy(into io.Writer, src io.Reader) error {
	buffer := make([]byte, 1<<20)
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n, err := src.Read(buffer)
		into.Write(buffer[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bytecode names programs that were compiled from JavaScript, by the numbers that
// their engines write at the begin: Hermes its own, V8 one whose upper half is the
// same in all versions.
func bytecode(p string, head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xc6\x1f\xbc\x03\xc1\x03\x19\x1f")):
		return "bytecode of Hermes"
	case len(head) > 4 && head[2] == 0xde && head[3] == 0xc0 && strings.EqualFold(path.Ext(p), ".jsc"):
		return "bytecode of V8"
	}
	return ""
}

// kindOf tells a file by its name, and one without a telling name by its head.
func kindOf(p string, head []byte) Kind {
	base := strings.ToLower(path.Base(p))
	switch ext := path.Ext(base); ext {
	case ".js", ".mjs", ".cjs", ".jsx", ".jsbundle", ".es6":
		return JavaScript
	case ".bundle":
		if len(head) > 0 && head[0] < 0x80 && head[0] != 0 && !bytes.ContainsRune(head, 0) {
			return JavaScript
		}
	case ".ts", ".tsx", ".mts", ".cts":
		if strings.HasSuffix(strings.TrimSuffix(base, ext), ".d") || bytes.HasPrefix(head, []byte("G@")) || bytes.ContainsRune(head, 0) {
			return Other
		}
		return TypeScript
	case ".json", ".webmanifest":
		return JSON
	case ".map":
		return SourceMap
	case ".html", ".htm", ".xhtml":
		return HTML
	case ".css":
		return CSS
	case ".node":
		return Native
	case ".wasm":
		return WASM
	case ".asar", ".zip", ".vsix", ".crx", ".xpi", ".nw", ".apk", ".ipa", ".aab", ".jar":
		return Container
	}
	switch {
	case asar.Is(head):
		return Container
	case bytes.HasPrefix(head, []byte("#!")):
		line, _, _ := bytes.Cut(head, []byte("\n"))
		if bytes.Contains(line, []byte("node")) {
			return JavaScript
		}
	}
	return Other
}
