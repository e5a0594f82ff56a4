package tables

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// These constants are the shape of Covertype, and the largest line of a table that this package
// reads.
const (
	covertypeName     = "covtype-scaled-92962.csv.gz"
	covertypeFeatures = 54
	covertypeClasses  = 7
	tableMaxLine      = 1 << 16
)

// Table is a set of labeled samples, each a row of numbers.
//
// Invariants:
//  1. len(Values) == len(Labels) * Features
//  2. every label is below Classes
//
// A Table does not change after it is made, so any number of goroutines may share a Table.
type Table struct {
	Features int // of one sample
	Classes  int // number of different labels
	Values   []float32
	Labels   []uint8 // one a sample
}

// Len returns the number of samples.
func (t *Table) Len() int { return len(t.Labels) }

// At returns the features of sample i, which the caller must not change.
func (t *Table) At(i int) []float32 {
	return t.Values[i*t.Features : (i+1)*t.Features : (i+1)*t.Features]
}

// Pick returns a table with copies of the samples of these indices.
func (t *Table) Pick(indices []int) *Table {
	out := &Table{Features: t.Features, Classes: t.Classes}
	for _, i := range indices {
		out.Values = append(out.Values, t.At(i)...)
		out.Labels = append(out.Labels, t.Labels[i])
	}
	return out
}

// Split returns the first n samples and the rest. The parts share memory with t. Split panics if
// there are fewer than n samples.
func (t *Table) Split(n int) (first, others *Table) {
	a, b := *t, *t
	a.Labels, b.Labels = t.Labels[:n:n], t.Labels[n:]
	a.Values, b.Values = t.Values[:n*t.Features:n*t.Features], t.Values[n*t.Features:]
	return &a, &b
}

// Covertype reads covtype-scaled-92962.csv.gz, a part of UCI's Covertype, from
// dir: 54 features from 0 to 1, 10 of them scaled and 44 of them 0 or 1, and a
// last column with the class from 1 to 7, which becomes a label from 0 to 6. The
// file has a line of names first, and no official split: see [Table.Split]
// ([data.IID] shuffles).
func Covertype(dir string) (*Table, error) {
	t := &Table{Features: covertypeFeatures, Classes: covertypeClasses}
	names := true
	err := eachLine(filepath.Join(dir, covertypeName), func(line string) error {
		if names {
			names = false
			if !strings.HasSuffix(line, ",Cover_Type") {
				return errors.New("the last column is not named Cover_Type")
			}
			return nil
		}
		return t.parse(line)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// parse appends one line: the features, then the class from 1 on.
func (t *Table) parse(line string) error {
	fields := strings.Split(line, ",")
	if len(fields) != t.Features+1 {
		return fmt.Errorf("%d columns, not %d", len(fields), t.Features+1)
	}
	for i, f := range fields[:t.Features] {
		v, err := strconv.ParseFloat(f, 32)
		if err != nil || !(v >= 0 && v <= 1) {
			return fmt.Errorf("column %d is %q, not a number from 0 to 1", i+1, f)
		}
		t.Values = append(t.Values, float32(v))
	}
	class, err := strconv.Atoi(fields[t.Features])
	if err != nil || class < 1 || class > t.Classes {
		return fmt.Errorf("the class is %q, not 1 to %d", fields[t.Features], t.Classes)
	}
	t.Labels = append(t.Labels, uint8(class-1))
	return nil
}

// eachLine calls f with every line of a gzipped file until f fails. eachLine returns an error if
// the file has no line.
func eachLine(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return fmt.Errorf("tables: %s: not a gzip file (%v): download it again", path, err)
	}
	n, err := readLines(z, f)
	if err != nil {
		return fmt.Errorf("tables: %s: line %d: %w: download it again", path, n, err)
	}
	if n == 0 {
		return fmt.Errorf("tables: %s: an empty file: download it again", path)
	}
	return nil
}

// readLines calls f with every line of r, and returns the number of lines. This number includes a
// line for which f returned an error, or that readLines could not read.
func readLines(r io.Reader, f func(line string) error) (n int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, tableMaxLine)
	for lines.Scan() {
		n++
		if err := f(lines.Text()); err != nil {
			return n, err
		}
	}
	if err := lines.Err(); err != nil {
		return n + 1, err
	}
	return n, nil
}
