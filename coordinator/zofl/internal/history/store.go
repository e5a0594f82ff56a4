package history

import (
	"context"
	"errors"
	"time"
)

// A Store keeps a history beyond the end of its coordinator. One goroutine at a time calls its
// methods.
type Store interface {
	// load calls each with the stored lines, in order. A second call of load reads only the lines
	// stored since the first. load returns how many lines were damaged. Its error matches [ErrVersion]
	// if a newer program wrote the lines.
	load(ctx context.Context, each func(line)) (damaged int, err error)
	// append stores lines after the existing ones. If the store has lines that load has not returned
	// yet, append stores nothing, and its error matches errBehind.
	append(ctx context.Context, lines []byte) error
	// replace stores lines and removes all lines that load returned or append stored. After an error
	// or a crash, the store may hold old and new lines, or only the old lines.
	replace(ctx context.Context, lines []byte) error
	// pace is how long to collect lines for one append.
	pace() time.Duration
	// rest closes the files that the store holds open.
	rest() error
}

// errBehind means that another process has stored lines since the last load.
var errBehind = errors.New("another coordinator has stored more of the history")

// Read returns the history in a store, and how many of its lines are damaged.
func Read(ctx context.Context, s Store) (h *History, damaged int, err error) {
	h = &History{}
	damaged, err = s.load(ctx, func(l line) { h.merge(l, maxN) })
	h.mu.Lock()
	h.settle()
	h.mu.Unlock()
	return h, damaged, errors.Join(err, s.rest())
}

// Copy copies the lines of one store to another. If from has no history, Copy does nothing.
func Copy(ctx context.Context, to, from Store) error {
	h, _, err := Read(ctx, from)
	if err != nil {
		return err
	}
	points, marks := h.Snapshot(0)
	if len(points)+len(marks) == 0 {
		return nil
	}
	if _, err := to.load(ctx, func(line) {}); err != nil {
		return errors.Join(err, to.rest())
	}
	return errors.Join(to.replace(ctx, encodeAll(points, marks)), to.rest())
}
