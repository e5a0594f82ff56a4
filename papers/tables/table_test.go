package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// covertype returns a file of the given lines below the line of names.
func covertype(t *testing.T, lines ...string) map[string][]byte {
	names := strings.Repeat("x,", covertypeFeatures) + "Cover_Type"
	content := strings.Join(append([]string{names}, lines...), "\n") + "\n"
	return map[string][]byte{covertypeName: gz(t, []byte(content))}
}

// row returns a line of Covertype: all features 0 but for the last.
func row(last, class string) string {
	return strings.Repeat("0,", covertypeFeatures-1) + last + "," + class
}

func TestCovertypeReads(t *testing.T) {
	table, err := Covertype(write(t, covertype(t, row("0.25", "1"), row("1", "7"),
		row("0.5", "3"))))
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 3 || table.Features != 54 || table.Classes != 7 {
		t.Errorf("got %d samples of %d features in %d classes", table.Len(), table.Features,
			table.Classes)
	}
	if !slices.Equal(table.Labels, []uint8{0, 6, 2}) || table.At(0)[53] != 0.25 ||
		table.At(2)[53] != 0.5 {
		t.Errorf("got labels %v and values %v", table.Labels, table.Values)
	}
	first, others := table.Split(1)
	if first.Len() != 1 || others.Len() != 2 || first.At(0)[53] != 0.25 ||
		others.At(1)[53] != 0.5 ||
		!slices.Equal(others.Labels, []uint8{6, 2}) {
		t.Errorf("split: got %v and %v", first, others)
	}
}

func TestCovertypeRefuses(t *testing.T) {
	for want, line := range map[string]string{
		"line 2: 53 columns, not 55": strings.Repeat("0,", 52) + "1",
		"column 54 is \"1.5\"":       row("1.5", "1"),
		"column 54 is \"NaN\"":       row("NaN", "1"),
		"column 54 is \"x\"":         row("x", "1"),
		"the class is \"8\"":         row("0", "8"),
		"the class is \"0\"":         row("0", "0"),
		"line 2: bufio":              strings.Repeat("0", tableMaxLine+1),
	} {
		_, err := Covertype(write(t, covertype(t, line)))
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), covertypeName) {
			t.Errorf("got %v, want the file and %q", err, want)
		}
	}
	cut := covertype(t, row("0", "1"))[covertypeName]
	for want, content := range map[string][]byte{
		"not named Cover_Type": gz(t, []byte("a,b\n")),
		"an empty file":        gz(t, nil),
		"not a gzip file":      []byte("a,b\n"),
		"unexpected EOF":       cut[:len(cut)-4],
	} {
		_, err := Covertype(write(t, map[string][]byte{covertypeName: content}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Covertype(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func libsvm(t *testing.T, content string) map[string][]byte {
	b := gz(t, []byte(content))
	return map[string][]byte{"a9a-train.libsvm.gz": b, "a9a-test.libsvm.gz": b}
}

func TestA9AReads(t *testing.T) {
	train, test, err := A9A(write(t, libsvm(t, "-1 3:1 123:0.5 \n+1\n1 1:-2e-1\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := &Sparse{123, []int{0, 2, 2, 3}, []int32{2, 122, 0}, []float32{1, 0.5, -0.2},
		[]uint8{0, 1, 1}}
	if !reflect.DeepEqual(train, want) || !reflect.DeepEqual(test, want) {
		t.Errorf("got %+v and %+v, want %+v", train, test, want)
	}
	first, others := train.Split(1)
	if err := errors.Join(valid(first), valid(others)); err != nil {
		t.Error(err)
	}
	index, value := others.At(1)
	if !slices.Equal(index, []int32{0}) || !slices.Equal(value, []float32{-0.2}) ||
		others.Labels[1] != 1 {
		t.Errorf("split: got %v and %v", first, others)
	}
}

func TestA9ARefuses(t *testing.T) {
	for line, want := range map[string]string{
		"2 1:1":     "the label is \"2\"",
		"":          "the label is \"\"",
		"1 0:1":     "index \"0\" is not 1 to 123",
		"1 124:1":   "index \"124\" is not 1 to 123",
		"1 3:1 3:1": "index 3 after 3",
		"1 4:1 3:1": "index 3 after 4",
		"1 3":       "\"3\" is not index:value",
		"1 3:inf":   "not a finite number",
		"1 3:1e99":  "not a finite number",
		"1 3:":      "not a finite number",
	} {
		_, _, err := A9A(write(t, libsvm(t, "+1 1:1\n"+line+"\n")))
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %v, want line 2 and %q", line, err, want)
		}
	}
}

// valid checks the invariants of s.
func valid(s *Sparse) error {
	if len(s.Start) != s.Len()+1 || s.Start[0] != 0 || s.Start[s.Len()] != len(s.Index) ||
		len(s.Index) != len(s.Value) {
		return fmt.Errorf("lengths %d, %d, %d, %d", len(s.Start), s.Len(), len(s.Index),
			len(s.Value))
	}
	for i := range s.Len() {
		index, _ := s.At(i)
		last := int32(-1)
		for _, at := range index {
			if at <= last || int(at) >= s.Features {
				return fmt.Errorf("sample %d: index %d after %d", i, at, last)
			}
			last = at
		}
		if s.Labels[i] > 1 {
			return fmt.Errorf("sample %d: label %d", i, s.Labels[i])
		}
	}
	return nil
}

// TestTablesReal needs the tables: ZOFL_DATA names the directory that holds
// tables/.
func TestTablesReal(t *testing.T) {
	root := os.Getenv("ZOFL_DATA")
	if root == "" {
		t.Skip("set ZOFL_DATA to a directory with a9a and Covertype in tables/ to run this test")
	}
	dir := filepath.Join(root, "tables")
	train, test, err := A9A(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(valid(train), valid(test)); err != nil {
		t.Error(err)
	}
	positive := 0
	for _, l := range test.Labels {
		positive += int(l)
	}
	if train.Len() != 32561 || test.Len() != 16281 || positive != 3846 {
		t.Errorf("a9a: got %d and %d samples, %d positive", train.Len(), test.Len(), positive)
	}
	table, err := Covertype(dir)
	if err != nil {
		t.Fatal(err)
	}
	var count [7]int
	for _, l := range table.Labels {
		count[l]++
	}
	if want := [7]int{33894, 45328, 5721, 439, 1519, 2779, 3282}; count != want {
		t.Errorf("Covertype: got classes %v, want %v", count, want)
	}
}
