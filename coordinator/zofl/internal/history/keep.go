package history

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// storeWithin bounds how long a store may take. lastWithin bounds the last try, when the
// coordinator stops, of a store that failed before. retryAfter is the pause after an error. Each
// further error doubles the pause, up to retryMost.
const (
	storeWithin = 5 * time.Second
	lastWithin  = time.Second
	retryAfter  = 10 * time.Second
	retryMost   = 10 * time.Minute
)

// A keeper stores the points and marks of a history. Its goroutine alone uses the store.
type keeper struct {
	h      *History
	store  Store
	logger *slog.Logger
	last   uint64 // load ignores points of later records; after the first load, maxN
	wake   chan struct{}
	within time.Duration // how long the store may take

	loaded, failed bool // failed: an error was logged, and nothing has worked since

	// h.mu guards the fields below.
	queue []line
	whole bool // store everything again, and not the queue
}

// Lead says which coordinator leads from now on, and in which store to keep the history. With a nil
// store the history stays in memory. Lead drops points in the store after the log's last record,
// because their records are lost. If the store fails, the history stays in memory, and Lead logs
// the error: no such error ends a run. stop stores the rest. The caller must call stop before it
// calls Lead again.
func (h *History) Lead(ctx context.Context, r Run, s Store, logger *slog.Logger) (stop func()) {
	status := r.Status()
	h.begin(r, &status, logger)
	if s == nil {
		h.addMark(began(&status))
		return h.flush
	}
	k := &keeper{h: h, store: s, logger: logger, last: status.N, wake: make(chan struct{}, 1),
		within: cmp.Or(h.within, storeWithin)}
	err := k.load(ctx)
	k.report(err)
	h.mu.Lock()
	h.keeper = k
	h.mu.Unlock()
	h.addMark(began(&status))
	return k.start(ctx, err != nil)
}

// start runs the keeper until stop is called.
func (k *keeper) start(ctx context.Context, late bool) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopping, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		k.run(ctx, stopping, late)
	}()
	return func() {
		k.h.flush()
		k.h.mu.Lock()
		k.h.keeper = nil
		k.h.mu.Unlock()
		close(stopping)
		t := time.AfterFunc(k.within, cancel)
		<-done
		t.Stop()
		cancel()
	}
}

// run stores new lines until stopping is closed. Then it stores the remaining lines.
func (k *keeper) run(ctx context.Context, stopping <-chan struct{}, late bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again, wait := time.NewTimer(retryAfter), retryAfter
	defer again.Stop()
	if !late {
		again.Stop()
	}
	for stop := false; !stop; {
		wake := k.wake
		if k.failed {
			wake = nil
		}
		select {
		case <-stopping:
			stop = true
		case <-wake:
			if !stopped(stopping, k.store.pace()) {
				break
			}
			stop = true
		case <-again.C:
		}
		if stop && k.failed {
			defer time.AfterFunc(lastWithin, cancel).Stop()
		}
		err := k.flush(ctx)
		if k.report(err); err == nil {
			wait = retryAfter
			continue
		}
		again.Reset(wait)
		wait = min(2*wait, retryMost)
	}
	if err := k.store.rest(); err != nil {
		k.logger.Warn("history", "err", err)
	}
}

// stopped waits for a time. stopped returns true at once when stopping is closed.
func stopped(stopping <-chan struct{}, wait time.Duration) bool {
	if wait <= 0 {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-stopping:
		return true
	case <-t.C:
		return false
	}
}

// report logs an error, unless the store failed the time before too.
func (k *keeper) report(err error) {
	if err != nil && !k.failed {
		k.logger.Warn("the history is not stored; it goes on in memory", "err", err)
	}
	k.failed = err != nil
}

// load reads the lines of the store that the history lacks.
func (k *keeper) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.within)
	defer cancel()
	k.h.mu.Lock()
	known := !k.loaded && len(k.h.points)+len(k.h.marks) > 0 // perhaps not all stored
	k.h.mu.Unlock()
	cut := false
	var lines []line
	damaged, err := k.store.load(ctx, func(l line) { lines = append(lines, l) })
	if damaged > 0 {
		k.logger.Warn("the history has damaged lines, which are gaps", "lines", damaged)
	}
	for _, l := range lines {
		cut = !k.h.merge(l, k.last) || cut
	}
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	thinned := k.h.settle()
	k.whole = k.whole || known || thinned || damaged > 0 || cut || !k.loaded && len(lines) == 0
	if err == nil {
		k.loaded, k.last = true, maxN // later lines come from another coordinator
	}
	return err
}

// flush stores the queued lines. After an error it will store the whole history again.
func (k *keeper) flush(ctx context.Context) error {
	if !k.loaded {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, k.within)
	defer cancel()
	err := k.store1(ctx)
	if errors.Is(err, errBehind) {
		if err = k.load(ctx); err == nil {
			err = k.store1(ctx)
		}
	}
	return err
}

// store1 tries once to store the queued lines.
func (k *keeper) store1(ctx context.Context) (err error) {
	k.h.mu.Lock()
	queue, whole := k.queue, k.whole
	k.queue, k.whole = nil, false
	var points []Point
	var marks []Mark
	if whole {
		points, marks = slices.Clone(k.h.points), slices.Clone(k.h.marks)
	}
	k.h.mu.Unlock()
	switch {
	case whole:
		err = k.store.replace(ctx, encodeAll(points, marks))
	case len(queue) > 0:
		var lines []byte
		for _, l := range queue {
			lines = encode(lines, l)
		}
		err = k.store.append(ctx, lines)
	}
	if err != nil {
		k.h.mu.Lock()
		k.whole = true
		k.h.mu.Unlock()
	}
	return err
}

// add queues a line. The caller holds h.mu.
func (k *keeper) add(l line, thinned bool) {
	if thinned || len(k.queue) >= mostPoints {
		k.whole = true
	}
	if k.whole {
		k.queue = nil
	} else {
		k.queue = append(k.queue, l)
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}
