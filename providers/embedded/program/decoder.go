package program

import (
	"rea/providers/embedded/arm64"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/x86"
	"rea/providers/format/object"
)

// decoderFor returns the decoder of an image's instruction set, or nil.
func decoderFor(im *object.Image) isa.Decoder {
	switch im.Arch {
	case object.X86:
		return x86.New(32)
	case object.X86_64:
		return x86.New(64)
	case object.ARM64:
		return arm64.New()
	}
	return nil
}
