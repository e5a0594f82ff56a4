package mobile

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// asleep replaces the wall clock by one that is ahead by the time that the device slept;
// the test sets that time.
func asleep(t *testing.T) *atomic.Int64 {
	slept := new(atomic.Int64)
	before := wall
	wall = func() time.Time { return time.Now().Add(time.Duration(slept.Load())).Round(0) }
	t.Cleanup(func() { wall = before })
	return slept
}

// ended reports whether the time of the budget is over.
func ended(t *testing.T, ctx context.Context) bool {
	t.Helper()
	synctest.Wait()
	if cause := context.Cause(ctx); cause != nil && cause != errBudget {
		t.Fatalf("ended with %v", cause)
	}
	return ctx.Err() != nil
}

// A budget ends when its time is up, not before.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, config())
		ctx, cancel := c.budget(time.Minute)
		defer cancel(nil)
		time.Sleep(time.Minute - 1)
		if ended(t, ctx) {
			t.Error("the budget ended too early")
		}
		time.Sleep(1)
		if !ended(t, ctx) {
			t.Error("the budget did not end")
		}
	})
}

// Timers stand still while a device sleeps. So budget reads the wall clock every few seconds, and
// at once when the app reports that the device woke up.
func TestBudgetAfterSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slept := asleep(t)
		for name, wake := range map[string]func(*Client){
			"looked at":        func(*Client) { time.Sleep(lookEvery) },
			"told":             func(c *Client) { c.Reconnect() },
			"told of networks": func(c *Client) { c.SetNetwork(true, true); c.SetNetwork(true, false) },
		} {
			slept.Store(0)
			c := made(t, config())
			ctx, cancel := c.budget(10 * time.Minute)
			time.Sleep(time.Second)
			c.Reconnect() // no reason to end the budget
			if ended(t, ctx) {
				t.Errorf("%s: the budget ended too early", name)
			}
			slept.Store(int64(time.Hour))
			if ended(t, ctx) {
				t.Errorf("%s: the budget ended without a reason", name)
			}
			wake(c)
			if !ended(t, ctx) {
				t.Errorf("%s: the budget did not end", name)
			}
			cancel(nil)
		}
	})
}

// Setting the clock back gains no time, because the timer counts too.
func TestBudgetClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slept := asleep(t)
		c := made(t, config())
		ctx, cancel := c.budget(time.Minute)
		defer cancel(nil)
		slept.Store(-24 * int64(time.Hour))
		time.Sleep(time.Minute)
		if !ended(t, ctx) {
			t.Error("the budget did not end")
		}
	})
}

// RunFor accepts any positive time, however long, and refuses others with the reason.
func TestRunForRefuses(t *testing.T) {
	c := made(t, config())
	for _, ms := range []int64{0, -1, math.MinInt64} {
		if err := c.RunFor(ms); err == nil || ErrorCode(err.Error()) != CodeConfig {
			t.Errorf("%d ms: %v, want %q", ms, err, CodeConfig)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c := made(t, config())
		c.settings.servers = nil // dial no server: that would leave the bubble
		ctx, cancel := c.budget(maxBudget)
		time.Sleep(24 * time.Hour)
		if ended(t, ctx) {
			t.Error("ten years ended after a day")
		}
		cancel(nil)
	})
}
