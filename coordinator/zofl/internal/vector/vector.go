// Package vector reads and writes parameters as files: .f32 is little-endian
// float32, one after the other; .npy is NumPy's.
package vector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sbinet/npyio/npy"
)

// CheckName says whether a file's name tells its format.
func CheckName(name string) error {
	switch filepath.Ext(name) {
	case ".f32", ".npy":
		return nil
	}
	return fmt.Errorf("%s: unknown format: end the name in .f32 (little-endian float32) or .npy (NumPy)", name)
}

// Write stores x in a new file: it is there whole, or not at all.
func Write(name string, x []float32) (err error) {
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: %w: it is not overwritten", name, os.ErrExist)
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
	err = errors.Join(encode(file, filepath.Ext(name), x), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

func encode(w io.Writer, format string, x []float32) error {
	b := bufio.NewWriterSize(w, 1<<20)
	var err error
	if format == ".npy" {
		err = npy.Write(b, x)
	} else {
		err = binary.Write(b, binary.LittleEndian, x)
	}
	return errors.Join(err, b.Flush())
}

// Read returns the parameters that a file has.
func Read(name string) ([]float32, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var x []float32
	if filepath.Ext(name) == ".npy" {
		err = npy.Read(file, &x)
	} else {
		x, err = floats(file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return x, nil
}

func floats(file *os.File) ([]float32, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size()%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no float32s", info.Size())
	}
	x := make([]float32, info.Size()/4)
	return x, binary.Read(bufio.NewReaderSize(file, 1<<20), binary.LittleEndian, x)
}
