package main

import (
	"context"
	"io"
	"log/slog"
)

// stride is the number of bytes at the end of a file that skip tries first.
const stride = 64 << 10

// skip skips the part of a growing file that the window does not need, after the agent has read
// the header. So an agent that starts with a file of years reads only the end of the file. skip
// tries parts at the end of the file, each twice as long as the part before, until a part has
// enough readings for the window. So rows may have any length and any times, and some rows may be
// broken.
//
// The window has the same readings as after reading the whole file, with one exception: skip may
// leave out a row whose time is a day or more after the time of a row that the agent reads. If
// the file has a gap of a window's length, the agent reads the whole file until enough rows
// follow the gap.
func (s *sheet) skip(ctx context.Context) error {
	if s.tail.once {
		return nil
	}
	rows, size := s.tail.extent()
	for n := s.stride; n < size-rows; n *= 2 {
		if first, last, ok := s.try(ctx, size-n); ok && s.clock.station.cover(first, last) {
			s.log.Info("reading only the end of the file: the window needs no more", "bytes", n)
			return s.tail.pass(ctx, size-n)
		}
	}
	return s.tail.seek(rows)
}

// try returns the first and last slot that a new agent would have from the rows after a
// position, counted from the last gap of a window's length.
func (s *sheet) try(ctx context.Context, from int64) (first, last int64, ok bool) {
	trial, log := newStation(s.cfg), slog.New(slog.DiscardHandler)
	end := &sheet{
		cfg: s.cfg, log: log, columns: s.columns, clock: &clock{station: trial, log: log},
		tail: &tail{file: s.tail.file, once: true, warn: func(string) {}},
	}
	err := end.tail.pass(ctx, from)
	for err == nil {
		var r reading
		if r, err = end.next(ctx); err == nil {
			trial.add(r)
		}
		if trial.window.held == 1 {
			first = trial.window.last
		}
	}
	return first, trial.window.last, err == io.EOF && trial.window.held > 0
}
