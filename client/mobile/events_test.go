package mobile

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A listener records its calls, and runs a test's code during each.
type listener struct {
	does   func(said string) error // nil: nothing
	inside atomic.Int32

	mu   sync.Mutex // guards what follows
	said []string
	most int32 // most calls at the same time
}

func (l *listener) tell(format string, args ...any) error {
	defer l.inside.Add(-1)
	now, said := l.inside.Add(1), fmt.Sprintf(format, args...)
	l.mu.Lock()
	l.said, l.most = append(l.said, said), max(l.most, now)
	l.mu.Unlock()
	if l.does == nil {
		return nil
	}
	return l.does(said)
}

func (l *listener) OnState(state int, reason string) error {
	return l.tell("state %s %s", StateName(state), reason)
}

func (l *listener) OnProgress(record, last, round, contributions int64, loss float64) error {
	return l.tell("progress %d/%d %d %d %v", record, last, round, contributions, loss)
}

func (l *listener) OnFault(code, message string) error {
	return l.tell("fault %s: %s", code, message)
}

// heard returns the calls since it was last called.
func (l *listener) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := l.said
	l.said = nil
	return said
}

// state, progress and faulty return calls for tests to post.
func state(n int) func(Listener) error {
	return func(l Listener) error { return l.OnState(n, "") }
}

func progress(n int) func(Listener) error {
	return func(l Listener) error { return l.OnProgress(int64(n), 0, 0, 0, 0) }
}

func faulty(n int) func(Listener) error {
	return func(l Listener) error { return l.OnFault(CodeLoss, fmt.Sprint(n)) }
}

// A slow listener receives only the latest event of each kind, once.
func TestEventsCoalesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		l := &listener{does: func(string) error { <-hold; return nil }}
		e := events{listener: l}
		e.post(aState, state(StateJoining))
		synctest.Wait() // the listener is in the call
		for n := range 100 {
			e.post(aProgress, progress(n))
			e.post(aFault, faulty(n))
			e.post(aState, state(n%2))
		}
		close(hold)
		synctest.Wait()
		want := []string{"state joining ", "progress 99/0 0 0 0", "fault loss: 99", "state offline "}
		if said := l.heard(); !slices.Equal(said, want) {
			t.Errorf("told %q, want %q", said, want)
		}
		e.post(aProgress, progress(100)) // the goroutine has ended
		synctest.Wait()
		if said := l.heard(); len(said) != 1 {
			t.Errorf("told %q after a pause, want one progress", said)
		}
	})
}

// The listener receives the other kinds of events even if faults never end.
func TestEventsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		hold, n := make(chan struct{}), 0
		l := &listener{does: func(string) error {
			<-hold
			if n++; n < 10 {
				e.post(aFault, faulty(n))
			}
			return nil
		}}
		e.listener = l
		e.post(aFault, faulty(0))
		e.post(aState, state(StateWaiting))
		e.post(aProgress, progress(1))
		close(hold) // not before all wait
		synctest.Wait()
		said := l.heard()
		for _, want := range []string{"state waiting ", "progress 1/0 0 0 0"} {
			if at := slices.Index(said, want); at < 0 || at > 4 {
				t.Errorf("%q is at %d of %q, want at most 4", want, at, said)
			}
		}
	})
}

// A fault does not replace the fault that caused it: if a certificate is not trusted, the client is
// also offline, and the listener receives both faults.
func TestEventsKeepCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		l := &listener{does: func(string) error { <-hold; return nil }}
		c := Client{events: events{listener: l}}
		c.tellState("")
		synctest.Wait() // the listener is in the call
		c.tellFault(CodeTLS, "unknown authority")
		for n := range 10 {
			c.tellFault(CodeOffline, fmt.Sprint(n))
		}
		close(hold)
		synctest.Wait()
		want := []string{"state idle ", "fault tls: unknown authority", "fault offline: 9"}
		if said := l.heard(); !slices.Equal(said, want) {
			t.Errorf("told %q, want %q", said, want)
		}
	})
}

// What a listener throws or returns has no effect, and no two calls run at once.
func TestEventsGoOn(t *testing.T) {
	l := &listener{does: func(said string) error {
		runtime.Gosched() // gives another call time to begin
		if said[0] == 'f' {
			panic(said)
		}
		return errors.New(said)
	}}
	e := events{listener: l}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := range 200 {
				switch n % 3 {
				case 0:
					e.post(aState, state(n%9))
				case 1:
					e.post(aProgress, progress(n))
				case 2:
					e.post(aFault, faulty(n))
				}
			}
		})
	}
	all.Wait()
	e.settle(time.Minute)
	e.post(aProgress, progress(7))
	e.settle(time.Minute)
	said := l.heard()
	if len(said) < 3 || said[len(said)-1] != "progress 7/0 0 0 0" || l.most != 1 {
		t.Errorf("%d calls, the last %q, %d at once, want the progress last and one at a time",
			len(said), said[max(0, len(said)-1):], l.most)
	}
}

// settle waits for a slow listener, but not for a listener that hangs.
func TestEventsSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		e.settle(time.Hour) // nothing to wait for
		hang := make(chan struct{})
		e.listener = &listener{does: func(said string) error {
			if said == "state offline " {
				time.Sleep(time.Second) // of the test's clock
			} else {
				<-hang
			}
			return nil
		}}
		began := time.Now()
		e.post(aState, state(StateOffline))
		e.settle(time.Minute)
		if d := time.Since(began); d != time.Second {
			t.Errorf("settled after %v, want 1s", d)
		}
		e.post(aFault, faulty(1))
		began = time.Now()
		e.settle(time.Minute)
		if d := time.Since(began); d != time.Minute {
			t.Errorf("settled after %v, want a minute: the listener hangs", d)
		}
		close(hang)
	})
}

// After release the client does not call the listener, not even for queued events. A call in
// progress continues.
func TestEventsRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		l := &listener{does: func(string) error { <-hold; return nil }}
		e := events{listener: l}
		e.post(aState, state(StateJoining))
		synctest.Wait()
		e.post(aProgress, progress(1))
		e.release()
		e.post(aFault, faulty(1))
		close(hold)
		synctest.Wait()
		if said := l.heard(); len(said) != 1 {
			t.Errorf("told %q, want only the call in progress", said)
		}
		if e.listener != nil || e.busy != nil {
			t.Error("the listener or a goroutine is still held")
		}
	})
}
