package tensors

import (
	"archive/zip"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// parseNPZ finds the arrays of a zip archive. writeNPZ copies a member unchanged if parseNPZ cannot
// read it.
func (f *File) parseNPZ() (err error) {
	if f.zip, err = zip.NewReader(f.src, f.size); err != nil {
		return fmt.Errorf("%w: save it with numpy.savez", err)
	}
	left := uint64(f.size)
	for _, m := range f.zip.File {
		if m.CompressedSize64 > left { // else members could share bytes and unpack to very many
			return errors.New("its members claim more bytes than it has")
		}
		left -= m.CompressedSize64
		at, err := m.DataOffset()
		if err == nil && at+int64(m.CompressedSize64) > f.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("member %q: %w", m.Name, err)
		}
		name, isArray := strings.CutSuffix(m.Name, ".npy")
		if !isArray {
			continue
		}
		t, err := arrayIn(m, name)
		if err != nil {
			t = Tensor{Name: name, Type: "unknown", Why: fmt.Errorf("it cannot be read: %w", err)}
		}
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

// arrayIn reads the header of an array.
func arrayIn(m *zip.File, name string) (t Tensor, err error) {
	r, err := m.Open()
	if err != nil {
		return t, fmt.Errorf("%w: save it with numpy.savez", err)
	}
	defer r.Close()
	h, err := vector.ReadHeader(r)
	if err != nil {
		return t, err
	}
	t, err = arrayOf(name, &h, int64(m.UncompressedSize64))
	t.member = m
	return t, err
}

// writeNPZ writes an archive in which the trained members have new elements. writeNPZ copies the
// compressed bytes of other members unchanged.
func (s *Selection) writeNPZ(out io.Writer, x []float32) error {
	w := zip.NewWriter(out)
	if err := w.SetComment(s.file.zip.Comment); err != nil {
		return err
	}
	trained := map[*zip.File]func(*zip.File) error{}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		values := x[:t.Len]
		x = x[t.Len:]
		trained[t.member] = func(m *zip.File) error { return writeMember(w, m, t, values) }
	}
	for _, m := range s.file.zip.File {
		write := trained[m]
		if write == nil {
			write = func(m *zip.File) error { return copyMember(w, m) }
		}
		if err := write(m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return w.Close()
}

// headerOf returns the header of a member for another archive, without the block of 64-bit sizes:
// the writer of that archive adds the block anew.
func headerOf(m *zip.File) *zip.FileHeader {
	h := m.FileHeader
	var extra []byte
	for b := h.Extra; len(b) >= 4; {
		n := min(4+int(binary.LittleEndian.Uint16(b[2:])), len(b))
		if binary.LittleEndian.Uint16(b) != zip64 {
			extra = append(extra, b[:n]...)
		}
		b = b[n:]
	}
	h.Extra = extra
	return &h
}

const (
	zip64         = 1      // the block of a header with sizes of 64 bits
	sizesComeLast = 1 << 3 // the flag of a member whose sizes follow it
)

func copyMember(w *zip.Writer, m *zip.File) error {
	r, err := m.OpenRaw()
	if err != nil {
		return err
	}
	to, err := w.CreateRaw(headerOf(m))
	if err == nil {
		_, err = io.Copy(to, r)
	}
	return err
}

// writeMember writes a member with other elements. The sizes of the member precede it, as some
// readers need. So writeMember packs the elements twice: first it only counts the bytes.
func writeMember(w *zip.Writer, m *zip.File, t *Tensor, x []float32) error {
	r, err := m.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	header := make([]byte, t.spans[0].at)
	if _, err := io.ReadFull(r, header); err != nil {
		return err
	}
	h := headerOf(m)
	h.Flags &^= sizesComeLast
	h.UncompressedSize64 = uint64(len(header)) + uint64(t.kind.bytes)*uint64(len(x))
	p, err := newPacker(m.Method)
	if err != nil {
		return err
	}
	var size counter
	if h.CRC32, err = p.pack(&size, header, t.kind, x); err != nil {
		return err
	}
	h.CompressedSize64 = uint64(size)
	to, err := w.CreateRaw(h)
	if err == nil {
		_, err = p.pack(to, header, t.kind, x)
	}
	return err
}

// A counter counts the bytes written to it.
type counter uint64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// A packer writes the content of a member.
type packer struct {
	writer
	deflate *flate.Writer // nil: the member is stored as it is
}

func newPacker(method uint16) (p packer, err error) {
	if method == zip.Deflate {
		p.deflate, err = flate.NewWriter(io.Discard, flate.DefaultCompression)
	}
	return p, err
}

// pack writes a header and elements, and returns their checksum.
func (p *packer) pack(to io.Writer, header []byte, e *element, x []float32) (uint32, error) {
	sum, packed := crc32.NewIEEE(), to
	if p.deflate != nil {
		p.deflate.Reset(to)
		packed = p.deflate
	}
	both := io.MultiWriter(sum, packed)
	_, err := both.Write(header)
	if err == nil {
		err = p.encode(e, x, func(b []byte) error {
			_, err := both.Write(b)
			return err
		})
	}
	if p.deflate != nil {
		err = errors.Join(err, p.deflate.Close())
	}
	return sum.Sum32(), err
}
