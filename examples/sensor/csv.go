package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// A source is a function that sends readings to out. The source returns the cause of ctx when ctx
// ends, or nil when there will be no more readings.
type source func(ctx context.Context, out chan<- reading) error

// A sheet is a CSV file as a source.
type sheet struct {
	cfg     *config.Config
	log     *slog.Logger
	tail    *tail
	columns *columns
	clock   *clock
	stride  int64 // see skip
	pause   func(ctx context.Context, d time.Duration) error
	fresh   bool      // the next row is the first of its file
	last    time.Time // time of the previous row, for a replay
	bad     bool      // a row that could not be read was logged
}

func newSheet(cfg *config.Config, log *slog.Logger, station *station) *sheet {
	s := &sheet{cfg: cfg, log: log, pause: sleep,
		clock: &clock{station: station, log: log}, stride: stride}
	poll := min(max(cfg.Period/10, 100*time.Millisecond), 10*time.Second)
	s.tail = &tail{
		path: cfg.Source.Path, once: cfg.Source.Kind == "replay",
		wait: func(ctx context.Context) error { return s.pause(ctx, poll) },
		warn: func(text string) { log.Warn(text, "file", cfg.Source.Path) },
	}
	return s
}

// sleep waits for d, or returns the cause of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// run implements source.
func (s *sheet) run(ctx context.Context, out chan<- reading) error {
	defer s.tail.close()
	for {
		r, err := s.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.send(ctx, out, r); err != nil {
			return err
		}
	}
}

// next returns the next reading whose time the clock believes.
func (s *sheet) next(ctx context.Context) (reading, error) {
	for {
		line, first, err := s.tail.line(ctx)
		if err != nil {
			return reading{}, err
		}
		before := s.columns
		r, ok, err := s.parse(line, first)
		if s.columns != before && err == nil { // a new header
			err = s.skip(ctx)
		}
		if err != nil || ok && s.clock.believe(r.time, !s.tail.live) {
			return r, err
		}
	}
}

// parse reads a line. ok is false if the line has no reading. A line that begins with # is a
// comment or a header.
func (s *sheet) parse(line string, first bool) (r reading, ok bool, err error) {
	s.fresh = s.fresh || first
	text, comment := uncommented(line)
	if s.fresh || s.columns == nil {
		header, err := readHeader(text, s.cfg)
		s.fresh = comment && err != nil
		if err == nil {
			s.columns = header
			s.columns.odd = s.numberless
			s.missing()
			return r, false, nil
		}
		if s.columns == nil && !comment {
			return r, false, s.headless(err)
		}
		// A logger that begins a new file may omit the header: then parse keeps the old columns.
	}
	if comment {
		return r, false, nil
	}
	r, err = s.columns.row(line)
	if err != nil && !s.bad {
		s.log.Warn("skipping rows that cannot be read", "file", s.cfg.Source.Path,
			"row", brief(line), "err", err)
		s.bad = true
	}
	return r, err == nil, nil
}

// uncommented returns a line without the # with which it begins, and whether it begins so. The line
// in which Excel names the separator is a comment too.
func uncommented(line string) (string, bool) {
	plain := strings.TrimPrefix(line, "\ufeff")
	if strings.HasPrefix(plain, "sep=") {
		return "", true
	}
	rest, comment := strings.CutPrefix(strings.TrimLeft(plain, ` "`), "#")
	if !comment {
		return plain, false
	}
	return strings.TrimSpace(rest), true
}

// headless returns the error for a file without a usable header, but only in a replay. A growing
// file may still get a header: its first line may not be complete yet, or the logger may begin
// another file.
func (s *sheet) headless(err error) error {
	if s.tail.once {
		return err
	}
	if !s.bad {
		s.log.Warn("the file does not begin with a header: waiting for one",
			"file", s.cfg.Source.Path, "err", err)
		s.bad = true
	}
	return nil
}

// brief returns the beginning of a line: a damaged file may have very long ones.
func brief(line string) string { return line[:min(len(line), 80)] }

// missing logs the channels that the file does not have.
func (s *sheet) missing() {
	for c, column := range s.columns.channels {
		if column < 0 {
			s.log.Warn("the file does not have a channel: set from to the name of its column",
				"file", s.cfg.Source.Path, "channel", s.cfg.Channels[c].Name, "column", s.cfg.Channels[c].From)
		}
	}
}

// numberless logs that a channel's value is not a number.
func (s *sheet) numberless(channel int, value string) {
	s.log.Warn("a value is no number, and such values count as missing: write 20.5, or 20,5 where "+
		"; or a tab separates columns",
		"file", s.cfg.Source.Path, "channel", s.cfg.Channels[channel].Name,
		"column", s.cfg.Channels[channel].From, "value", brief(value))
}

// send sends a reading. In a replay, send first waits until the reading's time has come.
func (s *sheet) send(ctx context.Context, out chan<- reading, r reading) error {
	if s.tail.once && s.cfg.Source.Speed > 0 && !s.last.IsZero() {
		if d := r.time.Sub(s.last); d > 0 {
			if err := s.pause(ctx, time.Duration(float64(d)/s.cfg.Source.Speed)); err != nil {
				return err
			}
		}
	}
	s.last = r.time
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case out <- r:
		return nil
	}
}
