package tensors

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// The Python packages numpy, safetensors and onnx wrote the files in testdata/golden: see make.py
// there.
const golden = "testdata/golden"

var headOnly = []string{"head.*"}

// goldenFiles are the models, with the tensors to train and the first of their parameters in
// model.f32 and adapted.f32.
var goldenFiles = []struct {
	name  string
	train []string
	first int
}{
	{"model.safetensors", headOnly, 0},
	{"model.onnx", headOnly, 0},
	{"model.npz", headOnly, 0},
	{"model-packed.npz", headOnly, 0},
	{"model.npy", nil, 2},
	{"model-big.npy", nil, 2},
}

// choose opens a file and selects its tensors.
func choose(t *testing.T, name string, train []string) *Selection {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	s, err := f.Select(train)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func goldenParams(t *testing.T, name string, first int) []float32 {
	t.Helper()
	x, err := vector.Read(filepath.Join(golden, name))
	if err != nil {
		t.Fatal(err)
	}
	return x[first:]
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Params returns the same parameters as Python.
func TestReadsWhatLibrariesWrite(t *testing.T) {
	for _, g := range goldenFiles {
		x, err := choose(t, filepath.Join(golden, g.name), g.train).Params()
		if want := goldenParams(t, "model.f32", g.first); err != nil || !same(x, want) {
			t.Errorf("%s: got %v, %v, want %v", g.name, x, err, want)
		}
	}
}

// A copy with the same parameters is the same file.
func TestCopiesBitForBit(t *testing.T) {
	for _, g := range goldenFiles {
		from := filepath.Join(golden, g.name)
		to := filepath.Join(t.TempDir(), g.name)
		if err := choose(t, from, g.train).Write(to, goldenParams(t, "model.f32", g.first)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, from), read(t, to)) {
			t.Errorf("%s: the copy differs", g.name)
		}
	}
}

// A copy with other parameters equals the file that the Python library writes with these
// parameters. For a .npz the members are equal.
func TestWritesWhatLibrariesWrite(t *testing.T) {
	for _, g := range goldenFiles {
		to := filepath.Join(t.TempDir(), g.name)
		x := goldenParams(t, "adapted.f32", g.first)
		if err := choose(t, filepath.Join(golden, g.name), g.train).Write(to, x); err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(golden, strings.Replace(g.name, "model", "adapted", 1))
		if Format(g.name) == ".npz" {
			sameMembers(t, to, want)
		} else if !bytes.Equal(read(t, to), read(t, want)) {
			t.Errorf("%s: the copy differs from the library's", g.name)
		}
	}
}

// sameMembers compares the members of two archives: name, content, packing, and no sizes that
// follow a member, which some readers cannot read.
func sameMembers(t *testing.T, got, want string) {
	t.Helper()
	a, b := members(t, got), members(t, want)
	if len(a) != len(b) {
		t.Fatalf("%s: %d members, want %d", got, len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("%s: member %d, %s, is %+q, want %+q", got, i, a[i].name, a[i].content, b[i].content)
		}
	}
}

type member struct {
	name, content   string
	method          uint16
	sizesComeBehind bool
}

func members(t *testing.T, name string) (list []member) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, member{m.Name, string(content), m.Method, m.Flags&sizesComeLast != 0})
	}
	return list
}

// Open finds every tensor, and says whether it can be trained.
func TestTypes(t *testing.T) {
	want := map[string][]string{
		"model.safetensors": {"body.brain BF16 yes", "body.codes I8 no", "body.count I64 no",
			"body.half F16 yes", "body.weight F32 yes", "head.bias F32 yes", "head.weight F32 yes"},
		"model.onnx": {"body.brain bfloat16 no", "body.codes int8 no", "body.count int64 no",
			"body.half float16 yes", "body.weight float32 yes", "head.bias float32 yes",
			"head.weight float32 yes"},
		"model.npz": {"body.codes |i1 no", "body.count <i8 no", "body.half <f2 yes",
			"body.turned <f4 no", "body.weight <f4 yes", "head.bias <f4 yes", "head.weight <f4 yes"},
	}
	for name, want := range want {
		f, err := Open(filepath.Join(golden, name))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tensor := range f.Tensors {
			can := "yes"
			if tensor.Why != nil {
				can = "no"
			}
			got = append(got, tensor.Name+" "+tensor.Type+" "+can)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSelects(t *testing.T) {
	f, err := Open(filepath.Join(golden, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for pattern, want := range map[string]string{
		"head.weight":         "head.weight",
		"head.weight,head.b*": "head.bias head.weight",
		"*weight":             "body.weight head.weight",
		"*.?ias":              "head.bias",
		"head.bias,*":         "body.brain body.half body.weight head.bias head.weight",
		"":                    "body.brain body.half body.weight head.bias head.weight",
		"!head.*":             "body.brain body.half body.weight",
		"*,!body.*":           "head.bias head.weight",
		"!body.*,*,!*bias":    "head.weight",
		"*,!tail":             "",
		"!*":                  "",
		"*count":              "",
		"body.codes,*":        "",
		"*half":               "body.half",
		"head":                "",
		"head.weigh":          "",
		"head?weight*,tail.*": "",
	} {
		var patterns []string
		if pattern != "" {
			patterns = strings.Split(pattern, ",")
		}
		s, err := f.Select(patterns)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "head.weight") {
				t.Errorf("%q: %v, want an error that names what is there", pattern, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		var got []string
		for _, tensor := range s.Tensors {
			got = append(got, tensor.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"*", "", true}, {"?", "", false}, {"a", "", false}, {"", "a", false},
		{"a*", "a", true}, {"*a", "ba", true}, {"*a", "bab", false}, {"*ab", "aab", true},
		{"a*b*c", "a/b.b/c", true}, {"a*b*c", "acb", false}, {"**", "x", true},
		{"?", "\u00df", true}, {"a?c", "a\u00dfc", true}, {"a?c", "ac", false}, {"\x93", "\x93", true},
		{"?", "\x93", true}, {"a.c", "abc", false}, {"[a]", "[a]", true}, {"a*", "ba", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	s := choose(t, filepath.Join(golden, "model.onnx"), headOnly)
	x := goldenParams(t, "model.f32", 0)
	dir := t.TempDir()
	if err := s.Write(filepath.Join(dir, "x.npz"), x); err == nil ||
		!strings.Contains(err.Error(), ".onnx") {
		t.Errorf("another format: %v", err)
	}
	if err := s.Write(filepath.Join(dir, "x.onnx"), x[1:]); err == nil {
		t.Error("too few parameters were written")
	}
	taken := filepath.Join(dir, "taken.onnx")
	if err := s.Write(taken, x); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(taken, x); !errors.Is(err, os.ErrExist) {
		t.Errorf("writing over a file: %v, want %v", err, os.ErrExist)
	}
	if _, err := Open(filepath.Join(dir, "x.pt")); err == nil ||
		!strings.Contains(err.Error(), ".safetensors") {
		t.Errorf("an unknown format: %v", err)
	}
}

// Reading and writing keeps every bit of a float32, even of a NaN.
func TestKeepsBits(t *testing.T) {
	x := make([]float32, 8)
	for i, bits := range []uint32{0x7fc00001, 0xffc12345, 0x80000000, 1, 0x7f800000, 0xff7fffff,
		0x7f800001, 0x00400000} {
		x[i] = math.Float32frombits(bits)
	}
	for _, g := range goldenFiles {
		to := filepath.Join(t.TempDir(), g.name)
		if err := choose(t, filepath.Join(golden, g.name), g.train).Write(to, x[g.first:]); err != nil {
			t.Fatal(err)
		}
		if got, err := choose(t, to, g.train).Params(); err != nil || !same(got, x[g.first:]) {
			t.Errorf("%s: got %x, %v", g.name, got, err)
		}
	}
}
