package mobile

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile/internal/devicedir"
)

// patience is the time limit of every wait. No test takes that long unless it fails.
const patience = 2 * time.Minute

func made(t *testing.T, cfg *Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// running starts Run on a client whose server does not exist, and returns once it has
// begun.
func running(t *testing.T, c *Client) (result chan error) {
	t.Helper()
	result = make(chan error, 1)
	go func() { result <- c.Run() }()
	for c.State() == StateIdle {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
		pause()
	}
	t.Cleanup(c.Stop)
	return result
}

// pause lets other goroutines run.
func pause() { runtime.Gosched() }

// ends returns the result of Run.
func ends(t *testing.T, result chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		t.Fatalf("Run has not returned after %v", patience)
		return nil
	}
}

func hasCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if err == nil || ErrorCode(err.Error()) != code {
		t.Errorf("%s: %v, want code %q", what, err, code)
	}
}

// Stop can be called at any time, from anywhere, and repeatedly. It ends Run.
func TestStop(t *testing.T) {
	t.Run("before Run", func(t *testing.T) {
		c := made(t, config())
		c.Stop()
		c.Stop()
		if c.State() != StateStopped {
			t.Errorf("state %d, want stopped", c.State())
		}
		hasCode(t, "Run", c.Run(), CodeStopped)
		hasCode(t, "RunFor", c.RunFor(1000), CodeStopped)
		hasCode(t, "Load", c.Load(), CodeStopped)
	})
	t.Run("during Run", func(t *testing.T) {
		c := made(t, config())
		result := running(t, c)
		if c.State() != StateOffline {
			t.Errorf("state %s, want offline", StateName(c.State()))
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(c.Stop)
		}
		all.Wait()
		if err := ends(t, result); err != nil {
			t.Errorf("Run returned %v after Stop", err)
		}
		hasCode(t, "Run", c.Run(), CodeStopped)
		if c.device.whole != nil || c.State() != StateStopped {
			t.Errorf("state %d, want stopped, and no objective", c.State())
		}
	})
	t.Run("by the listener", func(t *testing.T) {
		cfg := config()
		var c *Client
		told := &listener{}
		told.does = func(said string) error { c.Stop(); return nil }
		cfg.SetListener(told)
		c = made(t, cfg)
		if err := c.Run(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if said := told.heard(); !slices.Contains(said, "state stopped ") {
			t.Errorf("told %q, want the state stopped", said)
		}
	})
}

// Only one Run at a time; another may follow a RunFor.
func TestOneRun(t *testing.T) {
	c := made(t, config())
	result := running(t, c)
	hasCode(t, "Run", c.Run(), CodeRunning)
	hasCode(t, "RunFor", c.RunFor(5), CodeRunning)
	hasCode(t, "Load", c.Load(), CodeRunning)
	c.Stop()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}

	cfg := config()
	cfg.StateDir = t.TempDir()
	c = made(t, cfg)
	for range 3 {
		if err := c.RunFor(20); err != nil {
			t.Errorf("RunFor: %v", err)
		}
		if c.State() != StateIdle || c.cancel != nil || c.nc != nil {
			t.Errorf("state %s between two RunFor", StateName(c.State()))
		}
	}
}

// Only one client at a time can use a directory. The client unlocks the directory after each Run.
func TestStateDir(t *testing.T) {
	dir := t.TempDir()
	clients := [2]*Client{}
	for i := range clients {
		cfg := config()
		cfg.StateDir = dir
		clients[i] = made(t, cfg)
	}
	result := running(t, clients[0])
	for clients[0].dir.Load("nothing", nil) == devicedir.ErrClosed {
		pause()
	}
	hasCode(t, "Run of another", clients[1].Run(), CodeLocked)
	hasCode(t, "Load of another", clients[1].Load(), CodeLocked)
	clients[0].Stop()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}
	if err := clients[1].Load(); err != nil {
		t.Errorf("Load after it: %v", err)
	}
	if err := clients[1].RunFor(1); err != nil {
		t.Errorf("RunFor after it: %v", err)
	}
	if err := clients[0].dir.Load("nothing", nil); err != devicedir.ErrClosed {
		t.Errorf("a closed directory: %v", err)
	}

	cfg := config()
	cfg.StateDir = dir + "/store.lock/no/directory"
	hasCode(t, "Run where a file is", made(t, cfg).Run(), CodeStore)
}

// Before there is a model, Params and Digest return record 0 and Model returns nil. Params and
// Digest refuse wrong lengths.
func TestParams(t *testing.T) {
	c := made(t, config())
	dst, digest := make([]byte, 40), make([]byte, 32)
	dst[0], digest[0] = 7, 7
	if n, err := c.Params(dst); n != 0 || err != nil || dst[0] != 7 {
		t.Errorf("Params before a run: record %d, %v, first byte %d", n, err, dst[0])
	}
	if n, err := c.Params(append(make([]byte, 1), dst...)[1:]); n != 0 || err != nil {
		t.Errorf("Params before a run, unaligned: record %d, %v", n, err)
	}
	if model := c.Model(); model != nil {
		t.Errorf("Model before a run: %x", model)
	}
	if n, err := c.Digest(digest); n != 0 || err != nil || digest[0] != 7 {
		t.Errorf("Digest before a run: record %d, %v, first byte %d", n, err, digest[0])
	}
	for _, size := range []int{0, 39, 41, 44} {
		_, err := c.Params(make([]byte, size))
		hasCode(t, "Params", err, CodeConfig)
		_, err = c.Digest(make([]byte, size))
		hasCode(t, "Digest", err, CodeConfig)
	}
	if c.Dim() != 10 || !math.IsNaN(c.Loss()) || c.Contributions() != 0 || c.Queries() != 0 {
		t.Errorf("dim %d, loss %v, %d contributions, %d queries",
			c.Dim(), c.Loss(), c.Contributions(), c.Queries())
	}
}

// A handler that panics ends Run with an error instead of ending the process.
func TestHandlerPanics(t *testing.T) {
	c := made(t, config())
	result := running(t, c)
	c.fail(panicked("oh"))
	err := ends(t, result)
	hasCode(t, "Run", err, CodePanic)
	if again := c.RunFor(1); again != nil {
		t.Errorf("the next Run: %v", again)
	}
	c.fail(errors.New("late")) // Run is over
}

// Every state has a name, and every state of package client has a state here.
func TestStateNames(t *testing.T) {
	for s := StateIdle; s <= StateStopped; s++ {
		if StateName(s) == "" {
			t.Errorf("state %d has no name", s)
		}
	}
	if StateName(-1) != "" || StateName(StateStopped+1) != "" {
		t.Error("a number that is no state has a name")
	}
	for of, s := range states {
		if StateName(s) == "" || s == StateIdle {
			t.Errorf("state %d of package client is %d", of, s)
		}
	}
}

// The client releases the app's objects however Stop, the end of a Run and calls of a listener
// coincide.
func TestStopMeetsTheEnd(t *testing.T) {
	for i := range 100 {
		cfg := config()
		cfg.SetListener(&listener{})
		c := made(t, cfg)
		var all sync.WaitGroup
		all.Go(func() {
			if err := c.RunFor(1); err != nil && ErrorCode(err.Error()) != CodeStopped {
				t.Errorf("RunFor: %v", err)
			}
		})
		for range i * 50 {
			runtime.Gosched()
		}
		all.Go(c.Stop)
		all.Go(c.Reconnect)
		all.Go(func() { c.SetPower(true, 50); c.State(); c.BytesSent() })
		all.Wait()
		if c.device.whole != nil || c.events.listener != nil || c.cancel != nil ||
			c.State() != StateStopped {
			t.Fatalf("state %s, want stopped and nothing held", StateName(c.State()))
		}
	}
}
