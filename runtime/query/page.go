package query

import (
	"context"
	"errors"
	"iter"
)

// Page is one page of a list. Items is never nil: an empty page is written as [].
type Page[T any] struct {
	Items  []T
	Total  int64 // rows there are in all
	Offset int64
	Next   *int64 // offset of the next page, nil at the end
}

// Slice takes the page of rows that are already at hand.
func Slice[T any](rows []T, offset, limit int64) Page[T] {
	p := Page[T]{Items: []T{}, Total: int64(len(rows)), Offset: offset}
	if offset < p.Total {
		p.Items = rows[offset:min(offset+limit, p.Total)]
	}
	p.close()
	return p
}

// Stream takes a page out of a stream, keeping no row outside of it. keep, when
// not nil, tells which rows count.
func Stream[T any](ctx context.Context, rows iter.Seq2[T, error], offset, limit int64, keep func(*T) bool) (Page[T], error) {
	p := Page[T]{Items: []T{}, Offset: offset}
	err := Each(ctx, rows, func(row *T) error {
		if keep != nil && !keep(row) {
			return nil
		}
		if p.Total >= offset && p.Total-offset < limit {
			p.Items = append(p.Items, *row)
		}
		p.Total++
		return nil
	})
	p.close()
	return p, err
}

// Rest takes a page out of rows that begin at offset, of a list that is known to
// have total rows that count. It reads no further than to the end of the page,
// and tells how many rows it read.
func Rest[T any](ctx context.Context, rows iter.Seq2[T, error], offset, limit, total int64, keep func(*T) bool) (p Page[T], read int, err error) {
	p = Page[T]{Items: []T{}, Offset: offset, Total: total}
	err = Each(ctx, rows, func(row *T) error {
		if read++; keep == nil || keep(row) {
			p.Items = append(p.Items, *row)
		}
		if int64(len(p.Items)) == limit {
			return ErrStop
		}
		return nil
	})
	p.close()
	return p, read, err
}

func (p *Page[T]) close() {
	if end := p.Offset + int64(len(p.Items)); len(p.Items) > 0 && end < p.Total {
		p.Next = &end
	}
}

// checkEvery is how many rows pass between two looks at the context.
const checkEvery = 256

// ErrStop ends a walk over rows early, and without an error.
var ErrStop = errors.New("stop")

// Each calls visit for every row until one of them, the stream or ctx ends it.
func Each[T any](ctx context.Context, rows iter.Seq2[T, error], visit func(*T) error) error {
	n := 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		if err := visit(&row); err == ErrStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Keep is the rows that count.
func Keep[T any](rows []T, keep func(*T) bool) []T {
	var out []T
	for i := range rows {
		if keep(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}
