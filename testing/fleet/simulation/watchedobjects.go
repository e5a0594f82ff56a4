package simulation

import (
	"context"
	"errors"

	"github.com/zofl/zofl/coordinator/runlog"
)

var _ runlog.Objects = (*watchedLog)(nil)

func (l *watchedLog) objects() runlog.Objects { return l.Log.(runlog.Objects) }

// PutObject implements [runlog.Objects].
func (l *watchedLog) PutObject(ctx context.Context, name runlog.ObjectName,
	data []byte) error {
	err := l.objects().PutObject(ctx, name, data)
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.note(l.p, "vector of record %d: %v", name.N, err)
	case !w.scenario.Shared:
		w.book.Put(l.p, name, data)
	}
	return err
}

// Object implements [runlog.Objects].
func (l *watchedLog) Object(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	return l.objects().Object(ctx, name)
}

// KeepObjects implements [runlog.Objects].
func (l *watchedLog) KeepObjects(ctx context.Context, n uint64,
	names []runlog.ObjectName) error {
	err := l.objects().KeepObjects(ctx, n, names)
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.note(l.p, "vectors up to record %d: %v", n, err)
	case !w.scenario.Shared:
		w.book.Keep(n, names)
	}
	return err
}

// inspect checks that a begun log has the complete vectors of all records whose vectors the log
// must keep. The caller does not hold the world's lock.
func (l *watchedLog) inspect(ctx context.Context) error {
	w := l.p.w
	w.mu.Lock()
	names := w.book.Kept()
	w.mu.Unlock()
	for _, name := range names {
		_, err := l.Object(ctx, name)
		switch {
		case errors.Is(err, runlog.ErrNoObject), errors.Is(err, runlog.ErrCorrupt):
			w.locked(func() {
				w.find("one vector for each record that is kept", "%v begins: %v", l.p, err)
			})
		case err != nil:
			return err
		}
	}
	return nil
}

// PutObject implements [runlog.Objects].
func (h *handle) PutObject(ctx context.Context, name runlog.ObjectName, data []byte) error {
	return h.ask(ctx, &request{kind: storing, n: name.N, name: name,
		record: append([]byte(nil), data...)})
}

// Object implements [runlog.Objects].
func (h *handle) Object(_ context.Context, name runlog.ObjectName) ([]byte, error) {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	if h.p.dead {
		return nil, errDead
	}
	if data, ok := h.s.w.book.Object(name); ok {
		return data, nil
	}
	return nil, runlog.ErrNoObject
}

// KeepObjects implements [runlog.Objects].
func (h *handle) KeepObjects(ctx context.Context, n uint64, names []runlog.ObjectName) error {
	return h.ask(ctx, &request{kind: deleting, n: n,
		names: append([]runlog.ObjectName(nil), names...)})
}
