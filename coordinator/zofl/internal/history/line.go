package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A stored history consists of lines of JSON. Each line is a point or a mark, or holds the version
// of the format.
//
// A store may hold a line twice, and a later line of a record replaces an earlier line. So after
// any crash, reading all lines gives each point once.

// version is the version of the format. A reader does not touch a store with a higher version.
const version = 1

// maxLine is longer than any line, in bytes.
const maxLine = 64 << 10

// maxN bounds the number of a record.
const maxN = 1 << 62

// ErrVersion means that a newer program wrote the history.
var ErrVersion = errors.New("a newer version of zofl wrote the history: use that one")

// A line is a line of a stored history.
type line struct {
	Version int    `json:"zofl_history,omitempty"`
	Point   *Point `json:"point,omitempty"`
	Mark    *Mark  `json:"mark,omitempty"`
}

// encode appends a line.
func encode(b []byte, l line) []byte {
	text, err := json.Marshal(l)
	if err != nil || len(text) > maxLine {
		return b // leave out a point that cannot be stored
	}
	return append(append(b, text...), '\n')
}

// encodeAll returns all lines of a history.
func encodeAll(points []Point, marks []Mark) []byte {
	b := encode(nil, line{Version: version})
	for i := range points {
		b = encode(b, line{Point: &points[i]})
	}
	for i := range marks {
		b = encode(b, line{Mark: &marks[i]})
	}
	return b
}

// decode returns the content of a line.
func decode(text []byte) (l line, err error) {
	if len(text) > maxLine {
		return l, fmt.Errorf("%d bytes, more than %d", len(text), maxLine)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return line{}, err
	}
	switch {
	case l.Point == nil && l.Mark == nil && l.Version == 0:
		return line{}, errors.New("the line has no point, mark or version: expected one of them")
	case l.Point != nil && l.Mark != nil:
		return line{}, errors.New("the line has a point and a mark: expected one of them")
	case l.Point != nil && (l.Point.N == 0 || l.Point.N > maxN):
		return line{}, fmt.Errorf("a point of record %d", l.Point.N)
	case l.Mark != nil && (l.Mark.Kind == "" || l.Mark.N > maxN):
		return line{}, fmt.Errorf("a mark of kind %q at record %d", l.Mark.Kind, l.Mark.N)
	case l.Version > version:
		return line{}, ErrVersion
	}
	if l.Point != nil {
		l.Point.Time = inUTC(l.Point.Time)
	}
	if l.Mark != nil {
		l.Mark.Time = inUTC(l.Mark.Time)
	}
	return l, nil
}

func inUTC(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// A reading is the content of a store.
type reading struct {
	damaged int   // number of lines that cannot be decoded
	whole   int64 // bytes up to the end of the last whole line
	torn    bool  // bytes of an incomplete line follow
}

// readLines calls each with every line that it can decode. Its error matches [ErrVersion], or is an
// error of r.
func readLines(r io.Reader, each func(line)) (got reading, err error) {
	in := bufio.NewReaderSize(r, maxLine+2)
	for {
		text, err := in.ReadSlice('\n')
		long := false
		size := int64(len(text))
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			text, err = in.ReadSlice('\n')
			size += int64(len(text))
		}
		if errors.Is(err, io.EOF) {
			got.torn = size > 0
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got.whole += size
		l, err := decode(bytes.TrimSuffix(text, []byte{'\n'}))
		switch {
		case errors.Is(err, ErrVersion):
			return got, err
		case long || err != nil:
			got.damaged++
		default:
			each(l)
		}
	}
}
