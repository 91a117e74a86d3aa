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

// decoder calls the decoders of this project directly: what is decoded need not
// be allocated then, as it must be for a call whose callee is not known.
type decoder struct {
	isa.Decoder
	x86   *x86.Decoder
	arm64 *arm64.Decoder
}

func direct(d isa.Decoder) decoder {
	out := decoder{Decoder: d}
	out.x86, _ = d.(*x86.Decoder)
	out.arm64, _ = d.(*arm64.Decoder)
	return out
}

// Decode implements isa.Decoder.
func (d *decoder) Decode(b []byte, addr uint64, in *isa.Inst) {
	switch {
	case d.x86 != nil:
		d.x86.Decode(b, addr, in)
	case d.arm64 != nil:
		d.arm64.Decode(b, addr, in)
	default:
		var x isa.Inst
		d.Decoder.Decode(b, addr, &x)
		*in = x
	}
}
