// Package vector reads and writes parameters as files. A file whose name ends in .f32 holds
// little-endian float32, one after the other. A file whose name ends in .npy has NumPy's format.
package vector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

func encode(w io.Writer, format string, x []float32) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if format == ".npy" {
		if err := writeNPYHeader(b, len(x)); err != nil {
			return err
		}
	}
	return errors.Join(binary.Write(b, binary.LittleEndian, x), b.Flush())
}

// Read returns the parameters in a file. A .npy file of several dimensions gives its elements
// row by row.
func Read(name string) ([]float32, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	x, err := decode(file, filepath.Ext(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return x, nil
}

// decode checks that the file has the bytes that its header claims before it allocates.
func decode(file *os.File, format string) ([]float32, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	bytes, order := info.Size(), binary.ByteOrder(binary.LittleEndian)
	if format == ".npy" {
		var n uint64
		if n, order, err = readNPYHeader(file); err != nil {
			return nil, err
		}
		at, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		if bytes -= at; uint64(bytes) != 4*n {
			return nil, fmt.Errorf("%d bytes follow a header of %d float32", bytes, n)
		}
	}
	if format == ".f32" {
		if err := filekind.OfFloats(file, bytes); err != nil {
			return nil, err
		}
	}
	if bytes%4 != 0 {
		return nil, fmt.Errorf("%d bytes are not a whole number of float32", bytes)
	}
	x := make([]float32, bytes/4)
	return x, binary.Read(bufio.NewReaderSize(file, 1<<20), order, x)
}
