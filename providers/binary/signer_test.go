package binary_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// darwin builds a program for arm64 macOS; the Go linker signs it ad hoc.
func darwin(t testing.TB) []byte {
	t.Helper()
	need(t, "go")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "m.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte("package main\nfunc main() { println(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", out, src)
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0", "GO111MODULE=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keys makes a root and a leaf with openssl.
func keys(t testing.TB) (dir string) {
	t.Helper()
	openssl := need(t, "openssl")
	dir = t.TempDir()
	run(t, dir, openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Example Root", "-days", "30")
	run(t, dir, openssl, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/OU=ABCDE12345/CN=Example Developer")
	run(t, dir, openssl, "x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-out", "leaf.pem", "-days", "30")
	return dir
}

func blob(magic uint32, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, magic)
	return append(binary.BigEndian.AppendUint32(out, uint32(8+len(body))), body...)
}

func super(magic uint32, slots []uint32, blobs [][]byte) []byte {
	at := 12 + 8*len(blobs)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(blobs)))
	var body []byte
	for i, b := range blobs {
		head = binary.BigEndian.AppendUint32(head, slots[i])
		head = binary.BigEndian.AppendUint32(head, uint32(at+len(body)))
		body = append(body, b...)
	}
	return blob(magic, append(head, body...))
}

// seal is what a signature is made of beside the code.
type seal struct {
	info, resources   []byte
	entitlements, der []byte
	keys              string // folder of keys
	identifier, team  string
}

// signMacho replaces the ad hoc signature at the end of a 64-bit program.
func signMacho(t testing.TB, program []byte, s seal) []byte {
	t.Helper()
	le, be := binary.LittleEndian, binary.BigEndian
	out := bytes.Clone(program)
	const room = 0x8000
	var limit uint32
	at := 32
	for range le.Uint32(out[16:]) {
		switch cmd := le.Uint32(out[at:]); {
		case cmd == 0x1d:
			limit = le.Uint32(out[at+8:])
			le.PutUint32(out[at+12:], room)
		case cmd == 0x19 && bytes.HasPrefix(out[at+8:], []byte("__LINKEDIT\x00")):
			off := le.Uint64(out[at+40:])
			old := le.Uint64(out[at+48:])
			grown := uint64(len(program)) - uint64(signatureSize(program)) + room - off
			le.PutUint64(out[at+48:], grown)
			le.PutUint64(out[at+32:], le.Uint64(out[at+32:])+(grown-old)+0x4000)
		}
		at += int(le.Uint32(out[at+4:]))
	}
	out = out[:limit]

	requirement := be.AppendUint32(nil, 1) // identifier "…" and anchor apple generic
	requirement = be.AppendUint32(be.AppendUint32(requirement, 6), 2)
	requirement = be.AppendUint32(requirement, uint32(len(s.identifier)))
	requirement = append(requirement, s.identifier...)
	for len(requirement)%4 != 0 {
		requirement = append(requirement, 0)
	}
	requirement = be.AppendUint32(requirement, 15)
	requirements := super(0xfade0c01, []uint32{3}, [][]byte{blob(0xfade0c00, requirement)})
	entitlements, der := blob(0xfade7171, s.entitlements), blob(0xfade7172, s.der)

	digests := map[int][]byte{2: requirements, 5: entitlements, 7: der, 1: s.info, 3: s.resources}
	var special, code []byte
	for slot := 7; slot > 0; slot-- {
		sum := make([]byte, 32)
		if d := digests[slot]; d != nil {
			one := sha256.Sum256(d)
			sum = one[:]
		}
		special = append(special, sum...)
	}
	for rest := out; len(rest) > 0; {
		page := rest[:min(4096, len(rest))]
		rest = rest[len(page):]
		sum := sha256.Sum256(page)
		code = append(code, sum[:]...)
	}
	head := make([]byte, 88-8)
	strings := append(append([]byte(s.identifier), 0), append([]byte(s.team), 0)...)
	be.PutUint32(head[0:], 0x20400)
	be.PutUint32(head[4:], 0x10000) // hardened runtime
	be.PutUint32(head[8:], uint32(88+len(strings)+len(special)))
	be.PutUint32(head[12:], 88)
	be.PutUint32(head[16:], 7)
	be.PutUint32(head[20:], uint32(len(code)/32))
	be.PutUint32(head[24:], limit)
	head[28], head[29], head[31] = 32, 2, 12
	be.PutUint32(head[40:], uint32(88+len(s.identifier)+1))
	directory := blob(0xfade0c02, append(append(append(head, strings...), special...), code...))

	if err := os.WriteFile(filepath.Join(s.keys, "directory"), directory, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, s.keys, "openssl", "cms", "-sign", "-binary", "-in", "directory", "-signer", "leaf.pem", "-inkey", "leaf.key", "-certfile", "root.pem", "-md", "sha256", "-outform", "DER", "-out", "message")
	message, err := os.ReadFile(filepath.Join(s.keys, "message"))
	if err != nil {
		t.Fatal(err)
	}
	signature := super(0xfade0cc0, []uint32{0, 2, 5, 7, 0x10000}, [][]byte{directory, requirements, entitlements, der, blob(0xfade0b01, message)})
	if len(signature) > room {
		t.Fatalf("the signature has %d bytes", len(signature))
	}
	return append(append(out, signature...), make([]byte, room-len(signature))...)
}

func signatureSize(program []byte) uint32 {
	le := binary.LittleEndian
	at := 32
	for range le.Uint32(program[16:]) {
		if le.Uint32(program[at:]) == 0x1d {
			return le.Uint32(program[at+12:])
		}
		at += int(le.Uint32(program[at+4:]))
	}
	return 0
}
