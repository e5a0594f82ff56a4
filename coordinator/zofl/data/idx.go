package data

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
)

// These constants limit the sizes that a header may claim. readIDX checks the limits before it
// allocates memory.
const (
	// idxMaxBytes is the largest array read: 1 GiB, 20 times MNIST.
	idxMaxBytes = 1 << 30
	// idxMaxSide is the largest side of an image.
	idxMaxSide = 1 << 12
	// deflateMaxRatio is the most that a deflate stream can expand: 258 bytes
	// for two bits.
	deflateMaxRatio = 1032
)

// idxUnsignedByte is the element type in an IDX header that MNIST uses.
const idxUnsignedByte = 8

// readIDX reads a file in the IDX format: two zero bytes, the element type, the number of
// dimensions, each dimension as a big-endian uint32, the elements. The elements must be unsigned
// bytes and fill the file exactly. If the name ends in .gz, readIDX decompresses the file with
// gzip.
func readIDX(path string, dims int) (shape []int, elements []uint8, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("data: %w", err)
	}
	var r io.Reader = bufio.NewReaderSize(f, 1<<16)
	most := info.Size() // bytes that the file can hold
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, nil,
				fmt.Errorf("data: %s: not a gzip file (%v): download it again, or unpack it "+
					"and drop the .gz", path, err)
		}
		most = min(most, idxMaxBytes) * deflateMaxRatio
	}
	shape, elements, err = decodeIDX(r, dims, most)
	if err != nil {
		return nil, nil, fmt.Errorf("data: %s: %w: download it again", path, err)
	}
	return shape, elements, nil
}

// decodeIDX reads one IDX array from r, which holds at most the given number of
// bytes, header included.
func decodeIDX(r io.Reader, dims int, most int64) (shape []int, elements []uint8, err error) {
	header := make([]byte, 4+4*dims)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, nil, fmt.Errorf("header: %w", short(err))
	}
	if want := [4]byte{0, 0, idxUnsignedByte, byte(dims)}; [4]byte(header) != want {
		return nil, nil, fmt.Errorf("begins with % x, not % x: not an IDX file of unsigned bytes "+
			"in %d dimensions", header[:4], want, dims)
	}
	shape, size, err := idxShape(header[4:])
	if err != nil {
		return nil, nil, err
	}
	if size > most-int64(len(header)) {
		return nil, nil,
			fmt.Errorf("header claims %d elements, more than a file of this size holds: "+
				"it is cut off or damaged", size)
	}
	elements = make([]uint8, size)
	if n, err := io.ReadFull(r, elements); err != nil {
		return nil, nil, fmt.Errorf("element %d of %d: %w", n, size, short(err))
	}
	// One more read finds bytes after the last element, and makes gzip check its checksum.
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil:
		return nil, nil, fmt.Errorf("goes on after the %d elements of its header", size)
	case !errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("end: %w", err)
	}
	return shape, elements, nil
}

// idxShape decodes the dimensions and returns their product, at most
// idxMaxBytes.
func idxShape(b []byte) (shape []int, size int64, err error) {
	size = 1
	for i := 0; i < len(b); i += 4 {
		n := int64(binary.BigEndian.Uint32(b[i:]))
		if n == 0 {
			return nil, 0, fmt.Errorf("dimension %d is 0: an empty set", i/4)
		}
		if i > 0 && n > idxMaxSide {
			return nil, 0, fmt.Errorf("images with a side of %d pixels, the limit is %d", n,
				idxMaxSide)
		}
		// The product is at most 2^32 * 2^12 * 2^12, so it cannot overflow an int64.
		size *= n
		shape = append(shape, int(n))
	}
	if size > idxMaxBytes {
		return nil, 0, fmt.Errorf("header claims %d elements, the limit is %d", size,
			int64(idxMaxBytes))
	}
	return shape, size, nil
}

// short turns io.EOF into io.ErrUnexpectedEOF.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
