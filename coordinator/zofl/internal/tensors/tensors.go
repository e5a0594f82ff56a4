// Package tensors reads and writes the arrays of floats in model files: .npy and .npz of NumPy,
// .safetensors, and the initializers of .onnx. The package copies all other parts of such a file
// byte for byte.
//
// Elements are float32, float16 or bfloat16. The package converts elements to float32 when it reads
// them. When it writes elements, it rounds them to the nearest value of the file's type, ties to
// even.
//
// A file may come from anyone. No file makes this package panic, or allocate more memory than a
// multiple of the file's size. For a .npz the size of the unpacked members counts instead.
package tensors

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/filekind"
	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
)

// Formats are the endings of the names of model files.
var Formats = []string{".npy", ".npz", ".safetensors", ".onnx"}

// A Tensor is an array in a file.
type Tensor struct {
	Name  string // empty in a .npy
	Type  string // of its elements, as the format calls it
	Shape []uint64
	Len   uint64 // number of elements, if they can be trained

	// Why explains why the tensor cannot be trained, and what to do. Why is nil if the tensor can be
	// trained.
	Why error
	// Integer says that the elements are not floats. Select skips such a tensor, unless a pattern is
	// exactly its name.
	Integer bool

	kind   *element
	spans  []span    // where the elements are, in order
	member *zip.File // the member that contains the spans; nil: the spans are in the file itself
}

// A span is a part of a file, of whole elements.
type span struct{ at, bytes int64 }

// A File is a model file that is open.
type File struct {
	Name    string
	Format  string
	Tensors []Tensor // sorted by name

	// Constants are the names of arrays of floats in Constant nodes of an .onnx graph. These arrays
	// are not initializers.
	Constants []string

	src   io.ReaderAt
	size  int64
	zip   *zip.Reader // of a .npz
	close func() error
}

// CheckName returns an error unless the name is the name of a model file.
func CheckName(name string) error {
	if slices.Contains(Formats, Format(name)) {
		return nil
	}
	ends := "end the name in " + strings.Join(Formats, ", ")
	if cure := filekind.Cure(Format(name)); cure != "" {
		ends = cure + ", and " + ends
	}
	return fmt.Errorf("%s: unknown format: %s", name, ends)
}

// Format returns the ending of a name, in lower case.
func Format(name string) string { return strings.ToLower(filepath.Ext(name)) }

// Open opens a model file. The ending of the name says the format.
func Open(name string) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, cmp.Or(byContent(name), err)
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

// byContent returns an error that names the format of a file, whose name does not say it. byContent
// returns nil if the content does not say it either.
func byContent(name string) error {
	file, err := regular.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	if err := filekind.Of(file, info.Size()); err != nil && !errors.Is(err, filekind.ErrText) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// parse finds the tensors of a file. If a file has no tensors, the error says what kind of file it
// is.
func parse(name string, src io.ReaderAt, size int64) (*File, error) {
	f := &File{Name: name, Format: Format(name), src: src, size: size}
	err := f.find()
	if err != nil {
		return nil, cmp.Or(f.other(), err)
	}
	return f, nil
}

// other returns an error if the first bytes of a file show another format than its name, otherwise
// nil.
func (f *File) other() error {
	begin := make([]byte, 9)
	n, err := f.src.ReadAt(begin, 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch begin = begin[:n]; {
	case f.Format == ".npy" && bytes.HasPrefix(begin, []byte("\x93NUMPY")),
		f.Format == ".safetensors" && n >= 8 && begin[4]|begin[5]|begin[6]|begin[7] == 0 &&
			mayBeSafetensors(begin),
		f.Format == ".npz" && f.zip != nil && len(f.Tensors) > 0:
		return nil
	}
	return filekind.Of(f.src, f.size)
}

// find finds the tensors.
func (f *File) find() (err error) {
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
		return err
	}
	if len(f.Tensors) == 0 {
		return f.none()
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	for i := range f.Tensors[1:] {
		if name := f.Tensors[i].Name; name == f.Tensors[i+1].Name {
			return fmt.Errorf("two tensors have the name %q: save it again with other names", name)
		}
	}
	return nil
}

// none returns the error of a file without tensors.
func (f *File) none() error {
	if len(f.Constants) > 0 {
		return fmt.Errorf("it has no initializers: its weights, such as %q, are constants in nodes: %s",
			f.Constants[0], toInitializers)
	}
	if f.Format == ".onnx" {
		return errors.New("no tensor is in it: name the file that has the weights, or make them dense " +
			"initializers of its main graph")
	}
	return errors.New("no tensor is in it: name the file that has the weights")
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

// setType sets whether a tensor can be trained, and why not. kind is the type of its elements, and
// float says whether they are floats of some type.
func (t *Tensor) setType(kind string, order binary.ByteOrder, float bool) {
	t.kind = floatOf(kind, order)
	switch {
	case t.kind != nil:
	case float:
		t.Why = fmt.Errorf("its elements are %s: convert it to float32", t.Type)
	default:
		t.Integer = true
		t.Why = fmt.Errorf("its elements are %s, which cannot be trained", t.Type)
	}
}
