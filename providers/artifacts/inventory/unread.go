package inventory

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// unread knows containers that there is no reader of, by the magic numbers of
// their formats. They are named, so that nobody takes what is in them for seen.
var unread = []struct {
	at            int
	magic, format string
}{
	// images of Windows, its help files and the compressed files of old setups
	{0, "MSWIM\x00\x00\x00", "wim"},
	{0, "WLPWM\x00\x00\x00", "wim"},
	{0, "ITSF\x03\x00\x00\x00", "chm"},
	{0, "SZDD\x88\xf0\x27\x33", "ms-compress"},
	{0, "KWAJ\x88\xf0\x27\xd1", "ms-compress"},
	{0, "ISc(", "installshield-cab"},
	// archives and compressed files
	{0, "LZIP\x01", "lzip"},
	{0, "\x89LZO\x00\r\n\x1a\n", "lzop"},
	{0, "LRZI", "lrzip"},
	{0, "7kSt\xa0\x31\x83\xd3", "zpaq"},
	{7, "**ACE**", "ace"},
	{20, "\xdc\xa7\xc4\xfd", "zoo"},
	{10, "rLau", "stuffit"},
	{0, "StuffIt (c)1997", "stuffit"},
	{0, "AA01", "apple-archive"},
	{0, "YAA1", "apple-archive"},
	{0, "AEA1", "apple-encrypted-archive"},
	{0, "encrcdsa", "encrypted-disk-image"},
	{0, "\xda\xda\xfe\xca", "jimage"},
	{0, "\xca\xfe\xda\xda", "jimage"},
	// disks of virtual machines and devices
	{0, "vhdxfile", "vhdx"},
	{0, "conectix", "vhd"},
	{0, "KDMV", "vmdk"},
	{0, "QFI\xfb", "qcow"},
	{64, "\x7f\x10\xda\xbe", "vdi"},
	{0, "\x3a\xff\x26\xed", "android-sparse"},
	{0, "ANDROID!", "android-boot"},
	{0, "VNDRBOOT", "android-boot"},
	{0, "CrAU", "android-payload"},
	{0, "LUKS\xba\xbe", "luks"},
	// file systems
	{3, "NTFS    ", "ntfs"},
	{3, "EXFAT   ", "exfat"},
	{3, "-FVE-FS-", "bitlocker"},
	{54, "FAT", "fat"},
	{82, "FAT32   ", "fat"},
	{0, "XFSB", "xfs"},
	{1024, "\xe2\xe1\xf5\xe0", "erofs"},
	{1024, "\x10\x20\xf5\xf2", "f2fs"},
	{16, "Compressed ROMFS", "cramfs"},
	{0, "-rom1fs-", "romfs"},
	{0, "\x85\x19\x01\xe0", "jffs2"},
	{0, "\x85\x19\x02\xe0", "jffs2"},
	{0, "\x85\x19\x03\x20", "jffs2"},
	{0, "UBI#\x01", "ubi"},
	{0, "\x31\x18\x10\x06", "ubifs"},
	{32769, "BEA01", "udf"},
}

func unreadFormat(head []byte) string {
	has := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	for _, u := range unread {
		if has(u.at, u.magic) && (u.format != "fat" || has(510, "\x55\xaa")) {
			return u.format
		}
	}
	le := binary.LittleEndian
	switch {
	case has(1080, "\x53\xef") && le.Uint32(head[1024:]) > 0 && le.Uint32(head[1048:]) <= 6:
		return "ext"
	case has(2, "-lh") && has(6, "-") && strings.IndexByte("01234567dx", head[5]) >= 0, has(2, "-lz") && has(6, "-") && strings.IndexByte("s45", head[5]) >= 0:
		return "lha"
	case len(head) >= 11 && has(0, "\x60\xea") && le.Uint16(head[2:]) >= 30 && le.Uint16(head[2:]) <= 2600 && head[10] == 2:
		return "arj"
	case len(head) >= 3 && has(0, "\x1f\x9d") && head[2]&0x60 == 0 && head[2]&31 >= 9 && head[2]&31 <= 16:
		return "compress"
	case partitioned(head):
		return "mbr"
	}
	return ""
}

// partitioned reports whether a disk begins with a table of partitions in the
// manner of the PC: four entries, each empty or with a type and a size.
func partitioned(head []byte) bool {
	if len(head) < 512 || head[510] != 0x55 || head[511] != 0xaa {
		return false
	}
	used := 0
	for e := head[446:510]; len(e) > 0; e = e[16:] {
		if len(bytes.Trim(e[:16], "\x00")) == 0 {
			continue
		}
		if e[0]&0x7f != 0 || e[4] == 0 || binary.LittleEndian.Uint32(e[8:]) == 0 || binary.LittleEndian.Uint32(e[12:]) == 0 {
			return false
		}
		used++
	}
	return used > 0
}
