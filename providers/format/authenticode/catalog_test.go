package authenticode_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"rea/providers/format/authenticode"
	"rea/providers/format/authenticode/authenticodetest"
)

func FuzzReadCatalog(f *testing.F) {
	f.Add(authenticodetest.Catalog([]byte{1}, time.Unix(1e9, 0), authenticodetest.Member{Name: "a.sys", Digest: make([]byte, 32)}, authenticodetest.Member{Digest: make([]byte, 20)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		authenticode.IsMessage(data)
		if c, err := authenticode.ReadCatalog(data); err == nil && len(c.Members) > len(data) {
			t.Errorf("%d members in %d bytes", len(c.Members), len(data))
		}
	})
}

func TestReadCatalog(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	sum := sha256.Sum256([]byte("driver"))
	data := authenticodetest.Catalog([]byte{0xab, 0xcd}, at, authenticodetest.Member{Name: "dríver.sys", Digest: sum[:]}, authenticodetest.Member{Digest: make([]byte, 32)})
	if !authenticode.IsMessage(data) {
		t.Error("it is no message")
	}
	c, err := authenticode.ReadCatalog(data)
	if err != nil {
		t.Fatal(err)
	}
	if hex.EncodeToString(c.Identifier) != "abcd" || !c.Time.Equal(at) || len(c.Attributes) != 1 || c.Attributes[0] != (authenticode.NameValue{Name: "OS", Value: "_v100_X64"}) {
		t.Errorf("%x, %v, %v", c.Identifier, c.Time, c.Attributes)
	}
	if m := c.Members; len(m) != 2 || m[0].Tag != hex.EncodeToString(sum[:]) || string(m[0].Digest) != string(sum[:]) || len(m[0].Attributes) != 1 || m[0].Attributes[0].Value != "dríver.sys" || len(m[1].Attributes) != 0 {
		t.Errorf("%+v", c.Members)
	}
	for n := range data {
		authenticode.ReadCatalog(data[:n])
	}
}
