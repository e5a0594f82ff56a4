package tables

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// smallFiles are the tables that [Small] reads, and their files, as scikit-learn's wheel has them
// in sklearn/datasets/data.
var smallFiles = map[string]string{"breast-cancer": "breast_cancer.csv", "wine": "wine_data.csv",
	"iris": "iris.csv", "digits-8x8": "digits.csv.gz"}

// IsSmall says whether [Small] reads a table of this name.
func IsSmall(name string) bool { return smallFiles[name] != "" }

// Small reads a small table from dir: numbers, and a last column with the class, from 0. A first
// line of names is left out.
func Small(dir, name string) (*Table, error) {
	path := filepath.Join(dir, smallFiles[name])
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	t := &Table{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if err := t.addLine(lines.Text()); err != nil && n > 1 {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("%s: it has no rows", path)
	}
	t.Classes = int(slices.Max(t.Labels)) + 1
	return t, lines.Err()
}

// addLine adds a row, or nothing if the line is none.
func (t *Table) addLine(line string) error {
	cells := strings.Split(strings.TrimSpace(line), ",")
	row := make([]float32, len(cells)-1)
	for i, cell := range cells[:len(row)] {
		v, err := strconv.ParseFloat(cell, 32)
		if err != nil {
			return err
		}
		row[i] = float32(v)
	}
	label, err := strconv.ParseFloat(cells[len(row)], 32)
	switch {
	case err != nil:
		return err
	case label < 0 || label > 255 || label != float64(uint8(label)):
		return fmt.Errorf("class %v: give a whole number from 0 to 255", label)
	case t.Len() > 0 && len(row) != t.Features:
		return fmt.Errorf("%d features, %d in the rows before", len(row), t.Features)
	}
	t.Features = len(row)
	t.Values, t.Labels = append(t.Values, row...), append(t.Labels, uint8(label))
	return nil
}
