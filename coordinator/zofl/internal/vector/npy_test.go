package vector

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npy returns a file with a header of a version.
func npy(version byte, header, elements string) string {
	size := string([]byte{byte(len(header)), byte(len(header) >> 8)})
	if version > 1 {
		size += "\x00\x00"
	}
	return "\x93NUMPY" + string([]byte{version, 0}) + size + header + elements
}

func readNPY(t *testing.T, content string) ([]float32, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

// What NumPy writes: other byte orders, versions, shapes and spaces than ours.
func TestReadsNPY(t *testing.T) {
	const little, big = "\x00\x00\x80\x3f\x00\x00\x20\xc0", "\x3f\x80\x00\x00\xc0\x20\x00\x00"
	for name, content := range map[string]string{
		"one dimension": npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  \n",
			little),
		"big endian": npy(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", big),
		"version 2": npy(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
			little),
		"version 3": npy(3, "{'descr':'<f4','fortran_order':False,'shape':(2,)}\n", little),
		"a matrix": npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n",
			little),
		"double quotes": npy(1, `{"descr": "<f4", "fortran_order": False, "shape": (2,), }`+"\n",
			little),
		"Unicode of Python 2": npy(1, "{u'descr': u'<f4', u'fortran_order': False, u'shape': (2L,)}\n",
			little),
		"native order": npy(1, "{'descr': '=f4', 'fortran_order': False, 'shape': (2,), }\n", little),
		"no order":     npy(1, "{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }\n", little),
		"Fortran": npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n",
			little),
	} {
		got, err := readNPY(t, content)
		if err != nil || !slices.Equal(got, []float32{1, -2.5}) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	one, err := readNPY(t, npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n",
		little[:4]))
	if err != nil || !slices.Equal(one, []float32{1}) {
		t.Errorf("a scalar: got %v, %v", one, err)
	}
}

func TestRefusesNPY(t *testing.T) {
	good := "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
	for want, content := range map[string]string{
		"not a NumPy file": "\x93NUMPX" + npy(1, good, "12345678")[6:],
		"header":           npy(1, good, "")[:20],
		"claims":           "\x93NUMPY\x02\x00\xff\xff\xff\xff",
		"not NumPy's":      npy(1, "{'descr': '<f4'}\n", ""),
		"astype":           npy(1, strings.Replace(good, "<f4", "<f8", 1), "12345678"),
		"ascontiguousarray": npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }",
			"12345678"),
		"version 4":      npy(4, good, "12345678"),
		"version 0":      npy(0, good, "12345678"),
		"7 bytes follow": npy(1, good, "1234567"),
		"9 bytes follow": npy(1, good, "123456789"),
		"more than":      npy(1, strings.Replace(good, "(2,)", "(99999, 99999)", 1), ""),
		"a side of":      npy(1, strings.Replace(good, "(2,)", "(99999999999,)", 1), ""),
	} {
		if x, err := readNPY(t, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want an error with %q", x, err, want)
		}
	}
}

// NumPy maps a file into memory only if its elements are aligned.
func TestNPYIsAligned(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 1234567} {
		var b strings.Builder
		if err := writeNPYHeader(&b, n); err != nil || b.Len()%npyAlign != 0 {
			t.Errorf("%d elements: a header of %d bytes, %v", n, b.Len(), err)
		}
	}
}
