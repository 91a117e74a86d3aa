package render

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// dumpOf writes an object that holds bytes at an address (address, bytes in
// hexadecimal, ascii) the way hexdump does; nil when n is no such object.
func dumpOf(n *node) []string {
	address, digits, ascii := n.get("address"), n.get("bytes"), n.get("ascii")
	if address == nil || digits == nil || ascii == nil || digits.kind != '"' {
		return nil
	}
	at, err := strconv.ParseUint(strings.TrimPrefix(address.text, "0x"), 16, 64)
	if err != nil {
		return nil
	}
	data, err := hex.DecodeString(digits.text)
	if err != nil {
		return nil
	}
	lines := []string{}
	for len(data) > 0 {
		// Lines after the first begin where an address ends in 0.
		count := min(len(data), 16-int(at%16))
		var b strings.Builder
		fmt.Fprintf(&b, "%#08x ", at-at%16)
		text := strings.Repeat(" ", int(at%16))
		for i := range 16 {
			if i == 8 {
				b.WriteByte(' ')
			}
			offset := i - int(at%16)
			if offset < 0 || offset >= count {
				b.WriteString("   ")
				continue
			}
			fmt.Fprintf(&b, " %02x", data[offset])
			text += printable(data[offset])
		}
		lines = append(lines, b.String()+"  "+text)
		data, at = data[count:], at+uint64(count)
	}
	return lines
}

func printable(c byte) string {
	if c < 0x20 || c >= 0x7f {
		return "."
	}
	return string(rune(c))
}
