// Package tensors reads and writes the float32 arrays of model files: .npy and .npz of NumPy,
// .safetensors, and the initializers of .onnx. For all other parts of such a file it knows only
// their place, and copies them byte for byte.
//
// A file may come from anyone. No file makes this package panic, or allocate more than a multiple
// of the file's size; for a .npz that is the size of its unpacked members.
package tensors

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
)

// Formats are the endings of the names of model files.
var Formats = []string{".npy", ".npz", ".safetensors", ".onnx"}

// A Tensor is an array in a file.
type Tensor struct {
	Name  string // empty in a .npy
	Type  string // of its elements, as the format calls it
	Shape []uint64
	Len   uint64 // number of elements, if they are float32

	// Why explains why the tensor cannot be trained, and what to do. It is nil for float32.
	Why error

	order  binary.ByteOrder
	spans  []span    // where the elements are, in order
	member *zip.File // that the spans are in; nil: in the file
}

// A span is a part of a file, of whole elements.
type span struct{ at, bytes int64 }

// A File is a model file that is open.
type File struct {
	Name    string
	Format  string
	Tensors []Tensor // sorted by name

	src   io.ReaderAt
	size  int64
	zip   *zip.Reader // of a .npz
	close func() error
}

// CheckName returns an error unless the name is the name of a model file.
func CheckName(name string) error {
	if !slices.Contains(Formats, Format(name)) {
		return fmt.Errorf("%s: unknown format: end the name in %s", name,
			strings.Join(Formats, ", "))
	}
	return nil
}

// Format returns the ending of a name, in lower case.
func Format(name string) string { return strings.ToLower(filepath.Ext(name)) }

// Open opens a model file. The format is in its name.
func Open(name string) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f, err := parse(name, file, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	f.close = file.Close
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// parse finds the tensors of a file.
func parse(name string, src io.ReaderAt, size int64) (f *File, err error) {
	f = &File{Name: name, Format: Format(name), src: src, size: size}
	switch f.Format {
	case ".npy":
		err = f.parseNPY()
	case ".npz":
		err = f.parseNPZ()
	case ".safetensors":
		err = f.parseSafetensors()
	default:
		err = f.parseONNX()
	}
	if err != nil {
		return nil, err
	}
	if len(f.Tensors) == 0 {
		return nil, errors.New("no tensor is in it")
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	for i := range f.Tensors[1:] {
		if name := f.Tensors[i].Name; name == f.Tensors[i+1].Name {
			return nil, fmt.Errorf("two tensors have the name %q", name)
		}
	}
	return f, nil
}

// section is the whole file.
func (f *File) section() *io.SectionReader { return io.NewSectionReader(f.src, 0, f.size) }

// count returns the number of elements of a shape.
func count(shape []uint64) (uint64, error) {
	n := uint64(1)
	for _, side := range shape {
		high, low := bits.Mul64(n, side)
		if high != 0 || low > math.MaxInt64/64 {
			return 0, fmt.Errorf("a shape of %v has too many elements", shape)
		}
		n = low
	}
	return n, nil
}

// errType says why elements of a type cannot be trained.
func errType(kind string, float bool) error {
	if float {
		return fmt.Errorf("its elements are %s: convert it to float32 first, or leave it as it is "+
			"by naming others with --train", kind)
	}
	return fmt.Errorf("its elements are %s, which cannot be trained: leave it as it is by naming "+
		"others with --train", kind)
}
