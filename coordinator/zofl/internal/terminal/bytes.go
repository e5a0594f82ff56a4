package terminal

import "io"

// MiB is the unit of bars for bytes.
const MiB = 1 << 20

// Reader returns a reader that shows on a bar how many MiB of another were read.
func (b *Bar) Reader(r io.Reader) io.Reader { return &shownReader{r, tally{bar: b}} }

// Writer returns a writer that shows on a bar how many MiB were written to another.
func (b *Bar) Writer(w io.Writer) io.Writer { return &shownWriter{w, tally{bar: b}} }

// A tally counts bytes.
type tally struct {
	bar   *Bar
	bytes uint64
}

func (t *tally) add(n int) {
	t.bytes += uint64(n)
	t.bar.Set(t.bytes / MiB)
}

type shownReader struct {
	io.Reader
	tally
}

// Read implements [io.Reader].
func (r *shownReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.add(n)
	return n, err
}

type shownWriter struct {
	io.Writer
	tally
}

// Write implements [io.Writer].
func (w *shownWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.add(n)
	return n, err
}
