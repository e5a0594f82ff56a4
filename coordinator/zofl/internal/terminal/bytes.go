package terminal

import "io"

// MiB is the unit of bars for bytes.
const MiB = 1 << 20

// Reader returns a reader of r. The bar shows how many MiB were read.
func (b *Bar) Reader(r io.Reader) io.Reader { return io.TeeReader(r, &tally{bar: b}) }

// Writer returns a writer to w. The bar shows how many MiB were written.
func (b *Bar) Writer(w io.Writer) io.Writer { return io.MultiWriter(w, &tally{bar: b}) }

// A tally counts the bytes that are written to it.
type tally struct {
	bar   *Bar
	bytes uint64
}

// Write implements [io.Writer].
func (t *tally) Write(b []byte) (int, error) {
	t.bytes += uint64(len(b))
	t.bar.Set(t.bytes / MiB)
	return len(b), nil
}
