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

// A columns says where a CSV row has the time and the channels. Fields contain no
// separators.
type columns struct {
	separator string
	time      int
	channels  []int // -1: the file does not have the channel
	factors   []float64
}

// readHeader finds the columns by name.
func readHeader(line string, cfg *config.Config) (*columns, error) {
	h := &columns{separator: ","}
	if strings.Count(line, ";") > strings.Count(line, ",") {
		h.separator = ";"
	} else if !strings.Contains(line, ",") && strings.Contains(line, "\t") {
		h.separator = "\t"
	}
	names := h.split(strings.TrimPrefix(line, "\ufeff"))
	if h.time = slices.Index(names, cfg.Source.Time); h.time < 0 {
		return nil, &config.FieldError{Field: "source", Value: "time=" + cfg.Source.Time,
			Remedy: "the header has no such column: " + strconv.Quote(brief(line)) +
				": set time to the name of the one with the time"}
	}
	for _, c := range cfg.Channels {
		h.channels = append(h.channels, slices.Index(names, c.From))
		h.factors = append(h.factors, c.Factor)
	}
	return h, nil
}

func (h *columns) split(line string) []string {
	parts := strings.Split(line, h.separator)
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"`)
	}
	return parts
}

// row reads a row. A value that is not a number is missing.
func (h *columns) row(line string) (reading, error) {
	parts := h.split(line)
	if h.time >= len(parts) {
		return reading{}, fmt.Errorf("%d columns, none with the time", len(parts))
	}
	at, err := parseTime(parts[h.time])
	if err != nil {
		return reading{}, err
	}
	r := reading{time: at, values: make([]float64, len(h.channels))}
	for c, column := range h.channels {
		r.values[c] = math.NaN()
		if column >= 0 && column < len(parts) {
			if v, err := strconv.ParseFloat(parts[column], 64); err == nil {
				r.values[c] = v * h.factors[c]
			}
		}
	}
	return r, nil
}

// lastTime, in Unix seconds, is about as far as 64 bits of nanoseconds reach.
const lastTime = 9e9

func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && math.Abs(float64(t.Unix())) < lastTime {
			return t, nil
		}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < lastTime {
		whole, part := math.Modf(f)
		return time.Unix(int64(whole), int64(part*1e9)), nil
	}
	return time.Time{},
		fmt.Errorf("time %q: write 2026-01-31T12:00:00Z, 2026-01-31 12:00:00 in UTC, or "+
			"Unix seconds", brief(s))
}
