// Package vector reads and writes parameters as files. A file whose name ends in .f32 holds
// little-endian float32, one after the other. A file whose name ends in .npy has NumPy's format.
package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/internal/filekind"
	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
)

// CheckName returns an error unless the name ends in .f32 or .npy.
func CheckName(name string) error {
	switch filepath.Ext(name) {
	case ".f32", ".npy":
		return nil
	}
	return fmt.Errorf("%s: unknown format: "+
		"end the name in .f32 (little-endian float32) or .npy (NumPy)", name)
}

// Write stores x in a new file, which appears complete or not at all. If the file exists,
// the error matches [os.ErrExist].
func Write(name string, x []float32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return Create(name, func(file *os.File) error { return encode(file, filepath.Ext(name), x) })
}

// Create makes a new file whose content fill writes. The file appears complete or not at all. If
// the file exists, the error matches [os.ErrExist].
func Create(name string, fill func(*os.File) error) (err error) {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: %w: choose another name, files are never overwritten",
			name, os.ErrExist)
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".zofl-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err = errors.Join(fill(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	return Place(file.Name(), name)
}

// Place gives a complete file its name. If another file has the name by then, the error matches
// [os.ErrExist].
func Place(made, name string) error {
	err := os.Link(made, name)
	switch {
	case err == nil:
		return os.Remove(made)
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s: %w meanwhile: choose another name, files are never overwritten", name,
			os.ErrExist)
	}
	return os.Rename(made, name) // not every file system supports links
}

// chunk is how many elements the package reads or writes at once.
const chunk = 1 << 16

func encode(w io.Writer, format string, x []float32) error {
	if format == ".npy" {
		if err := writeNPYHeader(w, len(x)); err != nil {
			return err
		}
	}
	for b := make([]byte, 4*min(chunk, len(x))); len(x) > 0; {
		n := min(chunk, len(x))
		for i, v := range x[:n] {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
		}
		if _, err := w.Write(b[:4*n]); err != nil {
			return err
		}
		x = x[n:]
	}
	return nil
}

// Read returns the parameters in a file. A .npy file of several dimensions gives its elements
// row by row.
func Read(name string) (x []float32, err error) {
	x = []float32{}
	err = Each(name, func(part []float32, n int) error {
		if len(x) == 0 {
			x = make([]float32, 0, n)
		}
		x = append(x, part...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Each calls f with the parameters in a file, part by part. n is the number of all parameters. The
// part is valid until f returns.
func Each(name string, f func(part []float32, n int) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	file, err := regular.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	n, order, err := begin(file, filepath.Ext(name))
	if err == nil {
		err = decode(file, order, n, f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// begin reads the header, and checks that the file has the bytes that the header claims. begin
// returns the number of elements and their byte order.
func begin(file *os.File, format string) (n int, order binary.ByteOrder, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	bytes, order := info.Size(), binary.ByteOrder(binary.LittleEndian)
	if format == ".npy" {
		var n uint64
		if n, order, err = readNPYHeader(file); err != nil {
			return 0, nil, err
		}
		at, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, nil, err
		}
		if bytes -= at; uint64(bytes) != 4*n {
			return 0, nil, fmt.Errorf("%d bytes follow a header of %d float32", bytes, n)
		}
	}
	if format == ".f32" {
		if err := filekind.OfFloats(file, bytes); err != nil {
			return 0, nil, err
		}
	}
	if bytes%4 != 0 {
		return 0, nil, fmt.Errorf("%d bytes are not a whole number of float32", bytes)
	}
	return int(bytes / 4), order, nil
}

// decode calls f with n elements, part by part.
func decode(r io.Reader, order binary.ByteOrder, n int, f func([]float32, int) error) error {
	b, part := make([]byte, 4*min(chunk, n)), make([]float32, min(chunk, n))
	for left := n; left > 0; left -= len(part) {
		part = part[:min(left, len(part))]
		if _, err := io.ReadFull(r, b[:4*len(part)]); err != nil {
			return err
		}
		for i := range part {
			part[i] = math.Float32frombits(order.Uint32(b[4*i:]))
		}
		if err := f(part, n); err != nil {
			return err
		}
	}
	return nil
}
