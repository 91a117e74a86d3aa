package codec

import "rea/providers/format/container"

// LZO1X decodes one LZO1X block into at most limit bytes.
func LZO1X(src []byte, limit int) ([]byte, error) {
	z := &lzo{src: src, limit: limit}
	if err := z.run(); err != nil {
		return nil, err
	}
	return z.dst, nil
}

type lzo struct {
	src   []byte
	dst   []byte
	limit int
}

func (z *lzo) bad(what string) error {
	return container.Errorf("lzo", container.Corrupt, "%s", what)
}

func (z *lzo) byte() (int, error) {
	if len(z.src) == 0 {
		return 0, z.bad("the block ends early")
	}
	c := z.src[0]
	z.src = z.src[1:]
	return int(c), nil
}

// long reads a length that goes on in zero bytes.
func (z *lzo) long(base int) (int, error) {
	n := base
	for {
		c, err := z.byte()
		if err != nil {
			return 0, err
		}
		if c != 0 {
			return n + c, nil
		}
		if n += 255; n > z.limit+base {
			return 0, z.bad("a length runs over the end of the block")
		}
	}
}

func (z *lzo) literals(n int) error {
	if n > len(z.src) || n > z.limit-len(z.dst) {
		return z.bad("literals run over the end of the block")
	}
	z.dst = append(z.dst, z.src[:n]...)
	z.src = z.src[n:]
	return nil
}

func (z *lzo) match(back, n int) error {
	if back > len(z.dst) || n > z.limit-len(z.dst) {
		return z.bad("a match reaches outside of the block")
	}
	z.dst = copyBack(z.dst, back, n)
	return nil
}

// run decodes instructions. state is how many literals came before: 0 to 3
// inside an instruction, 4 for a run of its own.
func (z *lzo) run() error {
	state := 0
	op, err := z.byte()
	if err != nil {
		return err
	}
	if op > 17 {
		n := op - 17
		if err := z.literals(n); err != nil {
			return err
		}
		state = min(n, 4)
		if op, err = z.byte(); err != nil {
			return err
		}
	}
	for {
		var back, n, next int
		switch {
		case op >= 64: // M2
			h, err := z.byte()
			if err != nil {
				return err
			}
			back, n, next = h<<3+op>>2&7+1, op>>5+1, op&3
		case op >= 16: // M3 below a history of 16 KiB, M4 above
			if n = op & 31; op < 32 {
				n = op & 7
			}
			if n == 0 {
				base := 31
				if op < 32 {
					base = 7
				}
				if n, err = z.long(base); err != nil {
					return err
				}
			}
			n += 2
			l, err := z.byte()
			if err != nil {
				return err
			}
			h, err := z.byte()
			if err != nil {
				return err
			}
			back, next = h<<6+l>>2+1, l&3
			if op < 32 {
				back = (op&8)<<11 + h<<6 + l>>2
				if back == 0 {
					return nil // the end marker
				}
				back += 0x4000
			}
		case state == 0: // a run of literals
			n := op
			if n == 0 {
				if n, err = z.long(15); err != nil {
					return err
				}
			}
			if err := z.literals(n + 3); err != nil {
				return err
			}
			state = 4
			if op, err = z.byte(); err != nil {
				return err
			}
			continue
		default: // M1
			h, err := z.byte()
			if err != nil {
				return err
			}
			back, n, next = h<<2+op>>2+1, 2, op&3
			if state == 4 {
				back, n = back+0x800, 3
			}
		}
		if err := z.match(back, n); err != nil {
			return err
		}
		if err := z.literals(next); err != nil {
			return err
		}
		state = next
		if op, err = z.byte(); err != nil {
			return err
		}
	}
}
