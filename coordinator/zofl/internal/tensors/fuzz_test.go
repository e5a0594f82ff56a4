package tensors

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Go shortens each archive that it finds for up to a minute: -fuzzminimizetime 20x tries far more.

func FuzzSafetensors(f *testing.F) { fuzz(f, ".safetensors") }
func FuzzONNX(f *testing.F)        { fuzz(f, ".onnx") }
func FuzzNPZ(f *testing.F)         { fuzz(f, ".npz") }
func FuzzNPY(f *testing.F)         { fuzz(f, ".npy") }

// fuzz reads files of a format. fuzz writes each accepted file with other parameters, and must read
// these parameters back.
func fuzz(f *testing.F, format string) {
	files, err := filepath.Glob(filepath.Join(golden, "model*"+format))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, b := range hostile[format] {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parse("x"+format, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		var names []string
		for _, tensor := range file.Tensors {
			if tensor.Why == nil {
				names = append(names, tensor.Name)
			}
		}
		if format == ".npy" {
			names = nil
		} else if names == nil {
			return
		}
		s, err := file.Select(names)
		if err != nil {
			return
		}
		var x []float32
		if spent := allocated(func() { x, err = s.Params() }); spent > 1<<20+1<<12*uint64(len(b)) {
			t.Fatalf("%d bytes were allocated for a file of %d", spent, len(b))
		}
		if err == nil {
			again(t, s, format, b, x)
		}
	})
}

// again writes other parameters and reads them.
func again(t *testing.T, s *Selection, format string, b []byte, x []float32) {
	other := make([]float32, len(x))
	for i := range x {
		other[i] = float32(i) - x[i]
	}
	rest := other
	for _, tensor := range s.Tensors { // as far as its elements can hold them
		var b [4]byte
		for i, v := range rest[:tensor.Len] {
			tensor.kind.put(b[:], v)
			rest[i] = tensor.kind.get(b[:])
		}
		rest = rest[tensor.Len:]
	}
	var out bytes.Buffer
	if format == ".npz" {
		if err := s.writeNPZ(&out, other); err != nil {
			t.Fatal(err)
		}
	} else {
		out.Write(b)
		if err := s.patch(memory(out.Bytes()), other); err != nil {
			t.Fatal(err)
		}
	}
	file, err := parse("x"+format, bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	now := &Selection{file: file, Len: s.Len}
	for _, old := range s.Tensors {
		for _, tensor := range file.Tensors {
			if tensor.Name == old.Name {
				now.Tensors = append(now.Tensors, tensor)
			}
		}
	}
	if got, err := now.Params(); err != nil || !same(got, other) {
		t.Fatalf("wrote %v, and read %v, %v", other, got, err)
	}
}
