package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/zofl/zofl/testing/cmd/footprint/mark"
)

// errDone ends a device after its last mark.
var errDone = errors.New("all marks passed")

// A marker reports the state of the process at each mark. One goroutine owns a marker.
type marker struct {
	marks   []int64 // marks still to come
	in      *bufio.Reader
	out     *json.Encoder
	done    func()
	connect time.Duration
	began   time.Time
}

func newMarker(s *settings, done func()) *marker {
	return &marker{
		marks: s.marks, done: done,
		in: bufio.NewReader(os.Stdin), out: json.NewEncoder(os.Stdout),
	}
}

// reached receives the number of contributions. The caller need not call reached for each
// contribution.
func (m *marker) reached(contributions int64) error {
	if len(m.marks) == 0 || contributions < m.marks[0] {
		return nil
	}
	since := time.Since(m.began)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	now := mark.Mark{
		Contributions: contributions, Connect: m.connect.Seconds(), Since: since.Seconds(),
		Mallocs: stats.Mallocs, Bytes: stats.TotalAlloc, Live: stats.HeapAlloc, Collections: stats.NumGC,
	}
	if err := m.out.Encode(now); err != nil {
		return err
	}
	if _, err := m.in.ReadString('\n'); err != nil {
		return err
	}
	if m.marks = m.marks[1:]; len(m.marks) == 0 {
		m.done()
		return errDone
	}
	return nil
}
