package device

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// line returns the live line of the device. All calls return the same Live.
func (d *deviceFlags) line() *terminal.Live {
	if d.live == nil {
		if d.live = terminal.NewLive(os.Stderr); d.asJSON || d.quiet || d.logFormat.JSON {
			d.live = terminal.Still(os.Stderr)
		}
	}
	return d.live
}

// logger returns a logger whose lines go above the live line. With --quiet the logger writes only
// warnings and errors.
func (d *deviceFlags) logger(level slog.Level) *slog.Logger {
	if d.quiet {
		level = max(level, slog.LevelWarn)
	}
	return d.logFormat.Logger(d.line(), level)
}

// A progress shows a device's progress: as JSON, as a line that changes in place on a terminal, or
// as a new line every few seconds.
type progress struct {
	out   io.Writer
	json  *json.Encoder // nil: lines
	quiet bool
	live  *terminal.Live
	meter terminal.Meter
	pace  terminal.Pace
	stood string // what was last said of a device that stands still
}

func (d *deviceFlags) progress(out io.Writer) *progress {
	p := &progress{out: out, quiet: d.quiet, live: d.line(),
		pace: terminal.Pace{Every: terminal.LineEvery}}
	if d.asJSON {
		p.json = json.NewEncoder(out)
	}
	return p
}

// Record implements [client.Recorder].
func (s *progress) Record(p client.Progress) error {
	if s.json != nil {
		return s.json.Encode(inJSON(&p))
	}
	return s.show(&p, time.Now())
}

func (s *progress) show(p *client.Progress, at time.Time) (err error) {
	s.meter.Round(p.Round, at)
	if p.Contributed {
		s.meter.Lost(p.Loss)
	}
	switch {
	case s.live.Moves():
		s.live.Set(s.text(p))
	case s.quiet:
	case s.stands(p), p.Round > 0 && s.pace.Due(at):
		_, err = fmt.Fprintln(s.out, s.text(p))
	}
	return err
}

// stands says whether the device has just begun to stand still, or now stands still for another
// reason. A device stands still while the run is paused, after the run has ended, and before the
// first round.
func (s *progress) stands(p *client.Progress) bool {
	before := s.stood
	switch {
	case p.Err != nil: // the log has the error
		return false
	case p.State == client.Paused, p.State == client.Ended, p.State == client.Waiting && p.Round == 0:
		s.stood = p.State.String() + p.Reason
	default:
		s.stood = ""
	}
	return s.stood != "" && s.stood != before
}

// text describes a device's progress on one line, first what a narrow terminal must not cut.
func (s *progress) text(p *client.Progress) string {
	text := fmt.Sprintf("record %d of %d   %s", p.N, p.Last, p.State)
	if p.Size > 0 {
		text += fmt.Sprintf(", %d of %d bytes", p.Received, p.Size)
	}
	if p.Reason != "" {
		text += ": " + terminal.Plain(p.Reason)
	}
	if p.Queries > 0 {
		text += "   " + terminal.Count(p.Queries, "loss")
	}
	return text + "   " + s.meter.String()
}

// inJSON returns progress as an object of JSON.
func inJSON(p *client.Progress) map[string]any {
	line := map[string]any{
		"event": p.State.String(), "n": p.N, "last": p.Last, "round": p.Round,
		"queries": p.Queries,
	}
	if p.Contributed {
		line["loss"] = p.Loss
	}
	if p.Phase > 0 {
		line["phase"] = p.Phase // the phase of record n+1
	}
	if p.Vector > 0 {
		line["vector"], line["received"], line["size"] = p.Vector, p.Received, p.Size
	}
	if p.Reason != "" {
		line["reason"] = p.Reason
	}
	if p.Err != nil {
		line["err"] = p.Err.Error()
	}
	return line
}
