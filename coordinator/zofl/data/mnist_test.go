package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// idx returns a file of unsigned bytes: header as given, then the elements.
func idx(elements []uint8, shape ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, elements...)
}

func gz(t *testing.T, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// files returns a small good data set: 3 and 2 images of 2x4.
func files() map[string][]byte {
	pixels := make([]uint8, 24)
	for i := range pixels {
		pixels[i] = uint8(10 * i)
	}
	return map[string][]byte{
		trainImages: idx(pixels, 3, 2, 4),
		trainLabels: idx([]uint8{9, 0, 5}, 3),
		testImages:  idx(pixels[8:], 2, 2, 4),
		testLabels:  idx([]uint8{1, 2}, 2),
	}
}

func write(t *testing.T, files map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMNISTReads(t *testing.T) {
	plain := files()
	packed := map[string][]byte{}
	for name, b := range plain {
		packed[name+".gz"] = gz(t, b)
	}
	for name, set := range map[string]map[string][]byte{"plain": plain, "gzip": packed} {
		t.Run(name, func(t *testing.T) {
			train, test, err := MNIST(write(t, set))
			if err != nil {
				t.Fatal(err)
			}
			if train.Len() != 3 || train.Rows != 2 || train.Cols != 4 || train.Classes != 10 {
				t.Errorf("got %d images of %dx%d in %d classes",
					train.Len(), train.Rows, train.Cols, train.Classes)
			}
			if got := train.At(2)[7]; got != 230 {
				t.Errorf("last pixel: got %d, want 230", got)
			}
			if !bytes.Equal(train.Labels, []uint8{9, 0, 5}) ||
				!bytes.Equal(test.Labels, []uint8{1, 2}) {
				t.Errorf("got labels %v and %v", train.Labels, test.Labels)
			}
			if !bytes.Equal(test.Pixels, train.Pixels[8:]) {
				t.Errorf("test pixels: got %v", test.Pixels)
			}
		})
	}
}

func TestMNISTRefuses(t *testing.T) {
	good := files()
	huge := idx(nil, 1<<20, 28, 28) // 800 MB by its header, 16 bytes on disk
	tests := []struct {
		name, file string
		content    []byte
		want       string // in the error, besides the file's name
	}{
		{"wrong magic", trainImages, append([]byte("<htm"), good[trainImages][4:]...),
			"not an IDX file"},
		{"labels for images", trainImages, idx(make([]uint8, 24), 24), "in 3 dimensions"},
		{"empty", trainLabels, nil, "header: unexpected EOF"},
		{"header cut off", trainImages, good[trainImages][:9], "header: unexpected EOF"},
		{"truncated", trainImages, good[trainImages][:30], "cut off or damaged"},
		{"truncated by one", testLabels, good[testLabels][:9], "cut off or damaged"},
		{"more than its header says", trainImages, append(idx(nil, 1, 2, 4), make([]byte, 9)...),
			"goes on after"},
		{"too many labels", trainLabels, idx(make([]uint8, 4), 4), "4 labels, but "},
		{"too few labels", trainLabels, idx(make([]uint8, 2), 2), "2 labels, but "},
		{"label out of range", testLabels, idx([]uint8{1, 10}, 2), "label 1 is 10"},
		{"no images", trainImages, idx(nil, 0, 28, 28), "empty set"},
		{"huge claim", trainImages, huge, "cut off or damaged"},
		{"absurd claim", trainImages, idx(nil, 1<<31, 28, 28), "the limit is"},
		{"absurd side", trainImages, idx(nil, 1, 1<<31, 1<<31), "a side of"},
		{"other size", testImages, idx(make([]uint8, 12), 2, 2, 3),
			"training images are 2x4, test images 2x3"},
		{"gzip: huge claim", trainImages + ".gz", gz(t, huge), "cut off or damaged"},
		{"gzip: truncated data", trainImages + ".gz", gz(t, good[trainImages][:30]),
			"element 14 of 24: unexpected EOF"},
		{"gzip: truncated file", trainImages + ".gz", gz(t, good[trainImages])[:30],
			"unexpected EOF"},
		{"gzip: checksum", trainLabels + ".gz", flip(gz(t, good[trainLabels]), -8),
			"invalid checksum"},
		{"gzip: more than its header says", trainLabels + ".gz", gz(t, idx(make([]uint8, 5), 3)),
			"goes on after"},
		{"not gzip", trainImages + ".gz", good[trainImages], "not a gzip file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := files()
			delete(set, strings.TrimSuffix(tt.file, ".gz"))
			set[tt.file] = tt.content
			_, _, err := MNIST(write(t, set))
			if err == nil {
				t.Fatal("read without an error")
			}
			dir := tt.name != "other size" // that error is about the directory
			if !strings.Contains(err.Error(), tt.want) || dir &&
				!strings.Contains(err.Error(), tt.file) {
				t.Errorf("got %q, want the file and %q", err, tt.want)
			}
		})
	}
}

// flip returns a copy of b with one bit changed, in the byte at i from the end.
func flip(b []byte, i int) []byte {
	b[len(b)+i] ^= 1
	return b
}

func TestMNISTMissing(t *testing.T) {
	for name := range files() {
		set := files()
		delete(set, name)
		_, _, err := MNIST(write(t, set))
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v, want fs.ErrNotExist and the name", name, err)
		}
	}
}

// The reader must not allocate more bytes than the file can hold, whatever its header claims. Here
// a file of 16 bytes and a gzip file of at most 41 KB claim 800 MB.
func TestMNISTAllocatesByFileLength(t *testing.T) {
	header := idx(nil, 1<<20, 28, 28)
	for _, most := range []int64{int64(len(header)), 40 * deflateMaxRatio} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := decodeIDX(bytes.NewReader(header), 3, most); err == nil {
			t.Error("read without an error")
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("at most %d bytes in the file: %d bytes allocated", most, got)
		}
	}
}

// TestMNISTReal needs the published files: ZOFL_DATA names their directory's
// parent, which holds mnist/.
func TestMNISTReal(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" {
		t.Skip("set ZOFL_DATA to a directory with MNIST's four IDX files in mnist/ to run this test")
	}
	train, test, err := MNIST(filepath.Join(root, "mnist"))
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 60000 || test.Len() != 10000 || train.Rows != 28 || train.Cols != 28 {
		t.Errorf("got %d and %d images of %dx%d", train.Len(), test.Len(), train.Rows, train.Cols)
	}
	mean, std := train.Moments()
	if mean < 0.13065 || mean > 0.13075 || std < 0.30805 || std > 0.30815 {
		t.Errorf("pixels have mean %.5f and deviation %.5f, want %v and %v", mean, std, MNISTMean,
			MNISTStd)
	}
}

func FuzzIDX(f *testing.F) {
	for _, b := range files() {
		f.Add(b)
	}
	f.Add(idx(nil, 1<<20, 28, 28))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, dims := range []int{1, 3} {
			shape, elements, err := decodeIDX(bytes.NewReader(b), dims, int64(len(b)))
			if err != nil {
				continue
			}
			u := make([]uint32, len(shape))
			for i, n := range shape {
				u[i] = uint32(n)
			}
			if got := idx(elements, u...); !bytes.Equal(got, b) {
				t.Errorf("% x reads as % x", b, got)
			}
		}
	})
}

// TestFashionMNISTReal needs the published files, in fashion-mnist/.
func TestFashionMNISTReal(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" {
		t.Skip("set ZOFL_DATA to a directory that has Fashion-MNIST in fashion-mnist/")
	}
	train, test, err := MNIST(filepath.Join(root, "fashion-mnist"))
	if err != nil {
		t.Fatal(err)
	}
	mean, std := train.Moments()
	if train.Len() != 60000 || test.Len() != 10000 ||
		mean < 0.2860-1e-4 || mean > 0.2860+1e-4 || std < 0.3530-1e-4 ||
		std > 0.3530+1e-4 {
		t.Errorf("got %d and %d images, mean %.5f, deviation %.5f", train.Len(), test.Len(), mean,
			std)
	}
}
