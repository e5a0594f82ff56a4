package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// A columns says where a CSV row has the time and the channels.
type columns struct {
	separator string
	width     int
	time      int
	channels  []int // -1: the file does not have the channel
	factors   []float64
	heard     []bool                      // a channel had a number
	commas    []bool                      // a channel had a decimal comma
	told      []bool                      // odd was called
	odd       func(channel int, v string) // a value is not a number; nil: nobody asks
}

// readHeader finds the columns by name.
func readHeader(line string, cfg *config.Config) (*columns, error) {
	h := &columns{}
	var names []string
	for _, h.separator = range []string{";", "\t", ","} { // names may have commas
		names = h.split(line)
		h.time, h.width = slices.Index(names, cfg.Source.Time), len(names)
		if h.time >= 0 {
			break
		}
	}
	if h.time < 0 {
		return nil, &config.FieldError{Field: "source", Value: "time=" + cfg.Source.Time,
			Remedy: "the header has no such column: " + strconv.Quote(brief(line)) +
				": " + timeless(line)}
	}
	for _, c := range cfg.Channels {
		h.channels = append(h.channels, slices.Index(names, c.From))
		h.factors = append(h.factors, c.Factor)
	}
	h.heard, h.commas = make([]bool, len(h.channels)), make([]bool, len(h.channels))
	h.told = make([]bool, len(h.channels))
	return h, nil
}

// timeless says what to do about a header without the time.
func timeless(line string) string {
	if strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff") ||
		strings.Contains(line, "\x00") {
		return "its text is UTF-16: save it as CSV in UTF-8"
	}
	return "set time to the name of the one with the time; commas, semicolons or tabs separate columns"
}

// split returns the fields of a line. Separators within a pair of quotation marks are text.
func (h *columns) split(line string) []string {
	var parts []string
	begin, quoted, paired := 0, false, strings.Count(line, `"`)%2 == 0
	for i := range len(line) {
		switch {
		case line[i] == '"' && paired:
			quoted = !quoted
		case line[i] == h.separator[0] && !quoted:
			parts, begin = append(parts, line[begin:i]), i+1
		}
	}
	parts = append(parts, line[begin:])
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"`)
	}
	return parts
}

// row reads a row. A value that is not a number counts as missing.
func (h *columns) row(line string) (reading, error) {
	parts := h.split(line)
	if h.time >= len(parts) {
		return reading{}, fmt.Errorf("%d columns, none with the time", len(parts))
	}
	if h.crowded(parts) {
		return reading{}, fmt.Errorf("%d columns, and the header names %d: write numbers as 20.5, or "+
			"put ; between columns if they have commas", len(parts), h.width)
	}
	at, err := parseTime(parts[h.time])
	if err != nil {
		return reading{}, err
	}
	r := reading{time: at, values: make([]float64, len(h.channels))}
	for c, column := range h.channels {
		r.values[c] = math.NaN()
		if column >= 0 && column < len(parts) {
			r.values[c] = h.number(c, parts[column]) * h.factors[c]
		}
	}
	return r, nil
}

// crowded reports whether a row has values for which the header has no name, such as the digits
// after a decimal comma where commas separate columns.
func (h *columns) crowded(parts []string) bool {
	for _, p := range parts[min(h.width, len(parts)):] {
		if p != "" {
			return true
		}
	}
	return false
}

// number reads a channel's value. A value that is not a number counts as missing. number calls odd
// once for a channel, if its first value or a later one with digits is not a number.
func (h *columns) number(channel int, text string) float64 {
	v, comma, err := parseNumber(text, h.separator == ",")
	switch {
	case err == nil && h.commas[channel] && thousands.MatchString(text):
		v, err = strconv.ParseFloat(strings.Replace(text, ".", "", 1), 64)
	case err == nil:
		h.commas[channel] = h.commas[channel] || comma
	case text != "" && !h.told[channel] && h.odd != nil &&
		(!h.heard[channel] || strings.ContainsAny(text, "0123456789")):
		h.told[channel] = true
		h.odd(channel, text)
	}
	if err != nil {
		return math.NaN()
	}
	h.heard[channel] = true
	return v
}

// lastTime, in Unix seconds, is about as far as 64 bits of nanoseconds reach.
const lastTime = 9e9

func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && math.Abs(float64(t.Unix())) < lastTime {
			return t, nil
		}
	}
	if f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64); err == nil &&
		math.Abs(f) < lastTime {
		whole, part := math.Modf(f)
		return time.Unix(int64(whole), int64(part*1e9)), nil
	}
	return time.Time{},
		fmt.Errorf("time %q: write 2026-01-31T12:00:00Z, 2026-01-31 12:00:00 in UTC, or "+
			"Unix seconds", brief(s))
}
