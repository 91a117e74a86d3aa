package inventory

import (
	"io"

	"rea/providers/format/ar"
	"rea/providers/format/asar"
	"rea/providers/format/cab"
	"rea/providers/format/cfb"
	"rea/providers/format/container"
	"rea/providers/format/cpio"
	"rea/providers/format/hfsplus"
	"rea/providers/format/iso9660"
	"rea/providers/format/partition"
	"rea/providers/format/rar"
	"rea/providers/format/rpm"
	"rea/providers/format/sevenzip"
	"rea/providers/format/squashfs"
	"rea/providers/format/stream"
	"rea/providers/format/tar"
	"rea/providers/format/udif"
	"rea/providers/format/universal"
	"rea/providers/format/xar"
	"rea/providers/format/zip"
)

// A companion finds what lies beside a container, for entries that say that
// their bytes lie there.
type companion = asar.Companion

// opener makes readers of one format.
type opener struct {
	source func(src container.Source, beside companion) (container.Reader, error)
	stream func(r io.Reader) (container.Reader, error) // nil for formats that need to seek
}

// openerOf gives the readers of a format, nil when there are none.
func openerOf(format string) *opener {
	switch format {
	case "zip", "crx", "jmod":
		return &opener{source: func(src container.Source, _ companion) (container.Reader, error) { return zip.Open(src) }}
	case "asar":
		return &opener{source: func(src container.Source, beside companion) (container.Reader, error) { return asar.Open(src, beside) }}
	case "mach-o-universal":
		return seeking(universal.Open)
	case "rpm":
		return opening(rpm.Open)
	case "iso9660":
		return opening(iso9660.Open)
	case "squashfs":
		return opening(squashfs.Open)
	case "xar":
		return opening(xar.Open)
	case "udif":
		return opening(udif.Open)
	case "hfsplus":
		return opening(hfsplus.Open)
	case "gpt", "apple-partition-map":
		return opening(partition.Open)
	case "cab":
		return opening(cab.Open)
	case "compound-file":
		return opening(cfb.Open)
	case "7z":
		return opening(sevenzip.Open)
	case "rar":
		return streaming(rar.Open, rar.OpenStream)
	case "tar":
		return streaming(tar.Open, tar.OpenStream)
	case "cpio":
		return streaming(cpio.Open, cpio.OpenStream)
	case "ar":
		return streaming(ar.Open, ar.OpenStream)
	case "gzip", "bzip2", "xz", "zstd", "lz4", "lzma", "pbzx":
		return streaming(
			func(src container.Source) *stream.Reader { return stream.Open(format, src) },
			func(r io.Reader) *stream.Reader { return stream.OpenStream(format, r) })
	}
	return nil
}

func seeking[R container.Reader](open func(container.Source) R) *opener {
	return &opener{source: func(src container.Source, _ companion) (container.Reader, error) { return open(src), nil }}
}

func opening[R container.Reader](open func(container.Source) (R, error)) *opener {
	return &opener{source: func(src container.Source, _ companion) (container.Reader, error) { return open(src) }}
}

func streaming[R container.Reader](open func(container.Source) R, openStream func(io.Reader) R) *opener {
	return &opener{
		source: func(src container.Source, _ companion) (container.Reader, error) { return open(src), nil },
		stream: func(r io.Reader) (container.Reader, error) { return openStream(r), nil },
	}
}
