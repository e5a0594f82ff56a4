package run

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
)

// Columns returns the names of the columns of [Point.Row].
func (c *Curve) Columns() []string {
	return append([]string{"round", "queries", "bytes", "train_loss", "seconds"}, c.Metrics...)
}

// Row returns a point as text; unknown values are empty.
func (p *Point) Row(metrics int) []string {
	row := []string{
		strconv.FormatUint(p.Round, 10), strconv.FormatUint(p.Queries, 10),
		strconv.FormatUint(p.Bytes, 10),
		number(p.TrainLoss), number(p.Seconds),
	}
	for i := range metrics {
		if p.Values == nil {
			row = append(row, "")
			continue
		}
		row = append(row, strconv.FormatFloat(p.Values[i], 'g', -1, 64)) // NaN is one
	}
	return row
}

// number formats a value so that [parsePoint] reads the same bits.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// keep reads the points that an earlier process saved in a file of rows, and opens the file for
// appending. keep cuts off a last line that was not written completely.
func (c *Curve) keep(path string) (*os.File, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := len(b)
	for whole > 0 && b[whole-1] != '\n' {
		whole--
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(int64(whole)); err == nil {
		err = c.read(io.NewSectionReader(f, 0, int64(whole)))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w: remove the directory to begin again",
			path, err), f.Close())
	}
	return f, nil
}

func (c *Curve) read(r io.Reader) error {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = 5 + len(c.Metrics)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := parsePoint(row)
		if err == nil && p.Round != c.Last()+1 {
			err = fmt.Errorf("round %d after round %d", p.Round, c.Last())
		}
		if err != nil {
			return err
		}
		c.Points = append(c.Points, p)
	}
}

func parsePoint(row []string) (p Point, err error) {
	whole := func(s string) uint64 {
		v, fault := strconv.ParseUint(s, 10, 64)
		err = errors.Join(err, fault)
		return v
	}
	real := func(s string) float64 {
		if s == "" {
			return math.NaN()
		}
		v, fault := strconv.ParseFloat(s, 64)
		err = errors.Join(err, fault)
		return v
	}
	p = Point{Round: whole(row[0]), Queries: whole(row[1]), Bytes: whole(row[2]),
		TrainLoss: real(row[3]), Seconds: real(row[4])}
	for _, s := range row[5:] {
		if s != "" {
			p.Values = append(p.Values, real(s))
		}
	}
	if n := len(p.Values); n > 0 && n < len(row)-5 {
		err = errors.Join(err, fmt.Errorf("round %d: %d of %d values", p.Round, n, len(row)-5))
	}
	return p, err
}
