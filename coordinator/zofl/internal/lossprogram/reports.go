package lossprogram

import (
	"bytes"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// reportVerb begins a line with which a program reports numbers of its own. Such a line may come at
// any time, and answers nothing.
const reportVerb = "report "

// isReport says whether the beginning of some bytes may be that of a report.
func isReport(line []byte) bool {
	n := min(len(line), len(reportVerb))
	return string(line[:n]) == reportVerb[:n]
}

// stray returns the first line after an answer that no request asked for; it skips reports. An
// unfinished line at the end may become a report.
func stray(after []byte) []byte {
	for len(after) > 0 {
		line, rest, whole := bytes.Cut(after, []byte{'\n'})
		if !isReport(line) || whole && len(line) < len(reportVerb) {
			return line
		}
		after = rest
	}
	return nil
}

// reports passes on the numbers that a program reports, once there is somebody who takes them.
type reports struct {
	logger *slog.Logger

	mu   sync.Mutex // guards what follows
	to   func(name string, value float64) error
	kept deviceinfo.Values // that came before to
	mute bool              // something could not be reported, and that was logged
}

// take passes on the numbers of a line "report NAME=VALUE ...". It logs the first fault alone,
// because a program repeats its faults.
func (r *reports) take(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, word := range strings.Fields(line)[1:] {
		if err := r.one(word); err != nil && !r.mute {
			r.mute = true
			r.logger.Warn("a number was not reported", "err", err)
		}
	}
}

func (r *reports) one(word string) error {
	name, text, _ := strings.Cut(word, "=")
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("report %s: give NAME=NUMBER", clip(word))
	}
	if r.to != nil {
		return r.to(name, value)
	}
	if err = deviceinfo.CheckValue(name, value); err == nil && len(r.kept) < deviceinfo.MaxValues {
		r.kept[name] = value
	}
	return err
}

// ReportTo passes the numbers that the program reports to a function, such as client.Client.Report.
// Of numbers that came before, it passes the last of each name.
func (p *Program) ReportTo(to func(name string, value float64) error) {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	p.reports.to = to
	for name, value := range p.reports.kept {
		_ = to(name, value) // their names and number were checked
	}
	p.reports.kept = nil
}
