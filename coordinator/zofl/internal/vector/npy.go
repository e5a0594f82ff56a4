package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// NumPy's format: the magic string, a version of two bytes, the length of the header, the
// header as a Python dictionary padded with spaces, the elements.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const (
	npyMagic = "\x93NUMPY"
	// npyAlign divides the elements' offset.
	npyAlign = 64
	// npyMaxHeader bounds the bytes of a header. NumPy itself has the same bound for files that it
	// does not trust.
	npyMaxHeader = 10_000
)

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]:\s*u?['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`['"]shape['"]:\s*\(([0-9L, ]*)\)`)
)

// writeNPYHeader writes the bytes before n elements: little-endian float32, one dimension.
func writeNPYHeader(w io.Writer, n int) error {
	const before = len(npyMagic) + 4
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }", n)
	pad := npyAlign - (before+len(header)+1)%npyAlign
	header += strings.Repeat(" ", pad%npyAlign) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	_, err := w.Write(append(b, header...))
	return err
}

// A Header is the part of a NumPy array file before the elements.
type Header struct {
	Descr   string // type of the elements, as NumPy writes it; empty: several in one
	Fortran bool   // the elements are in Fortran order, and that makes a difference
	Shape   []uint64
	Bytes   int64 // length of the header
}

// ReadHeader reads the header of a NumPy array.
func ReadHeader(r io.Reader) (h Header, err error) {
	header, size, err := npyHeader(r)
	if err != nil {
		return h, err
	}
	descr := npyDescr.FindStringSubmatch(header)
	fortran := npyFortran.FindStringSubmatch(header)
	shape := npyShape.FindStringSubmatch(header)
	if fortran == nil || shape == nil {
		return h, fmt.Errorf("the header %q is not NumPy's: save it again with numpy.save", header)
	}
	if descr != nil {
		h.Descr = descr[1]
	}
	sides := strings.FieldsFunc(shape[1], func(c rune) bool { return c == ',' || c == ' ' })
	for _, s := range sides {
		side, err := strconv.ParseUint(strings.TrimSuffix(s, "L"), 10, 63) // 2L is Python 2's
		if err != nil {
			return h, fmt.Errorf("a side of %s elements: %w", s, err)
		}
		h.Shape = append(h.Shape, side)
	}
	h.Fortran = fortran[1] == "True" && len(sides) > 1
	h.Bytes = size
	return h, nil
}

// Float32 returns the byte order of the elements if they are float32, row by row. Otherwise Float32
// returns an error with a remedy.
func (h *Header) Float32() (binary.ByteOrder, error) {
	switch {
	case strings.TrimLeft(h.Descr, "<>=|") != "f4":
		return nil, fmt.Errorf("its elements are %q, not float32: save x.astype('float32')", h.Descr)
	case h.Fortran:
		return nil, ErrFortran
	}
	return ByteOrder(h.Descr), nil
}

// ErrFortran means that a file has its elements column by column.
var ErrFortran = errors.New("its elements are in Fortran order: save numpy.ascontiguousarray(x)")

// ByteOrder returns the order of the bytes of elements of a type, as NumPy writes it.
func ByteOrder(descr string) binary.ByteOrder {
	if strings.HasPrefix(descr, ">") {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// readNPYHeader reads a header, and returns the number of elements and their byte order.
func readNPYHeader(r io.Reader) (n uint64, order binary.ByteOrder, err error) {
	h, err := ReadHeader(r)
	if err != nil {
		return 0, nil, err
	}
	if order, err = h.Float32(); err != nil {
		return 0, nil, err
	}
	n, err = product(h.Shape)
	return n, order, err
}

// npyHeader reads the dictionary, and returns how many bytes come before the elements.
func npyHeader(r io.Reader) (string, int64, error) {
	begin := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(r, begin); err != nil || string(begin[:len(npyMagic)]) != npyMagic {
		return "", 0, fmt.Errorf("it is not a NumPy file: save it with numpy.save")
	}
	if v := begin[len(npyMagic)]; v < 1 || v > 3 {
		return "", 0, fmt.Errorf("it has version %d of NumPy's format, which has 1 to 3: save it again "+
			"with numpy.save", v)
	}
	size := make([]byte, 4)
	if begin[len(npyMagic)] == 1 { // later versions have four bytes
		size = size[:2]
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return "", 0, fmt.Errorf("header: %w", err)
	}
	length := binary.LittleEndian.Uint32(append(size, 0, 0)[:4])
	if length > npyMaxHeader {
		return "", 0, fmt.Errorf("its header claims %d bytes: at most %d", length, npyMaxHeader)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", 0, fmt.Errorf("header: %w", err)
	}
	return string(header), int64(len(begin) + len(size) + len(header)), nil
}

// product returns the number of elements of an array with these sides.
func product(sides []uint64) (n uint64, err error) {
	n = 1
	for _, side := range sides {
		if side >= 1<<31 {
			return 0, fmt.Errorf("a side of %d elements: at most %d", side, 1<<31-1)
		}
		if n *= side; n > 1<<31 {
			return 0, fmt.Errorf("more than %d elements", uint64(1)<<31)
		}
	}
	return n, nil
}
