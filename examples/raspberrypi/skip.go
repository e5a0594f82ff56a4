package main

import (
	"context"
	"io"
	"log/slog"
)

// stride is how much of a file's end is tried first.
const stride = 64 << 10

// skip leaves out what the window cannot need of a file that grows, of which the header
// has been read: a file of years costs no more at a start than its end. It tries ends of
// the file, each twice as long as the one before, as if there were nothing before them,
// until one is enough. So rows may be of any length and at any times, broken ones too. The
// window becomes what it would of the whole file, but where a row that is left out has a
// later time than one that is not, by a day or more. After a gap of a window a file is
// read whole, until there is enough since then.
func (s *sheet) skip(ctx context.Context) error {
	if s.tail.once {
		return nil
	}
	rows, size := s.tail.extent()
	for n := s.stride; n < size-rows; n *= 2 {
		if first, last, ok := s.try(ctx, size-n); ok && s.clock.station.cover(first, last) {
			s.log.Info("reading the end of the file: the window needs no more", "bytes", n)
			return s.tail.pass(ctx, size-n)
		}
	}
	return s.tail.seek(rows)
}

// try returns the first and last slot that a new agent would come to know by the rows after
// a position, since the last gap of a window.
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
