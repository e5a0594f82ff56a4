package link_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire/signed"
)

// TestPublish: being offline loses a reply and nothing else. A denial ends Run. The server drops
// forbidden messages without an error, so the link makes one check, after the first reply that it
// sends.
func TestPublish(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		publish := func(want bool, checks int) {
			t.Helper()
			sent, err := d.Publish(t.Context(), 1, []byte("reply"))
			if sent != want || err != nil || d.line.checks != checks {
				t.Errorf("sent %v, %v, %d checks, want %v and %d", sent, err, d.line.checks, want, checks)
			}
		}
		d.line.down = true
		publish(false, 0)
		if !strings.Contains(d.log.String(), "reply not sent") {
			t.Errorf("log %q", &d.log)
		}
		d.line.down, d.line.dead = false, true
		publish(true, 1) // the link does not know yet whether the server permits the subject
		d.line.dead = false
		publish(true, 2)
		publish(true, 2)
	})
	each(t, nil, func(t *testing.T, d *device) {
		d.line.DenyPublish(subjects.Reply(run, 0, id))
		sent, err := d.Publish(t.Context(), 1, []byte("reply"))
		if sent || !errors.Is(err, bus.ErrPermission) || !strings.HasPrefix(err.Error(), "reply: ") {
			t.Errorf("denied: sent %v, %v", sent, err)
		}
	})
}

// TestSubscribe: a denial ends the subscription. If the broker does not answer, the subscription
// stays, and begins when the connection is up.
func TestSubscribe(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		none := func(bus.Message) {}
		if _, err := d.Subscribe(t.Context(), "zo..a", none); !errors.Is(err, bus.ErrSubject) {
			t.Errorf("malformed: %v", err)
		}
		d.line.DenySubscribe("zo.kitchen.a.0")
		sub, err := d.Subscribe(t.Context(), "zo.kitchen.a.0", none)
		if sub != nil || !errors.Is(err, bus.ErrPermission) {
			t.Errorf("denied: %v, %v", sub, err)
		}
		d.line.down = true
		heard := 0
		hear := func(bus.Message) { heard++ }
		if _, err = d.Subscribe(t.Context(), "zo.kitchen.a.1", hear); err != nil {
			t.Errorf("offline: %v", err)
		}
		d.line.down = false
		if err := d.line.Publish("zo.kitchen.a.1", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if heard != 1 {
			t.Errorf("heard %d announcements, want 1", heard)
		}
	})
}

// TestDrops: the time between drops that do not help doubles, from three intervals to five minutes
// and a quarter. After an announcement, the time starts at three intervals again. The link logs a
// reconnect that fails.
func TestDrops(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.line.dead, d.line.stuck = true, bus.ErrClosed
		examine := func(during time.Duration) (drops []time.Time) {
			d.line.drops = nil
			for began := time.Now(); time.Since(began) < during; time.Sleep(time.Second) {
				if err := d.Examine(t.Context(), "zo"); err == nil ||
					!strings.Contains(err.Error(), "no answer in") {
					t.Fatalf("examined: %v", err)
				}
			}
			return d.line.drops
		}
		// A check takes up to the timeout and a second more.
		const look = timeout + time.Second
		check := func(drops []time.Time) {
			t.Helper()
			least := 3 * every
			for i := range drops[1:] {
				between := drops[i+1].Sub(drops[i])
				if between < least || between > link.LongestPause*5/4+look {
					t.Errorf("drop %d came %v after the one before, want %v or a little more",
						i+2, between, least)
				}
				if i == 0 && between > least*5/4+look {
					t.Errorf("the second drop came after %v", between)
				}
				least = min(2*least, link.LongestPause)
			}
		}
		drops := examine(time.Hour)
		if len(drops) < 10 || len(drops) > 18 {
			t.Errorf("%d drops in an hour", len(drops))
		}
		check(drops)
		d.heard = time.Now()
		if drops = examine(5 * time.Minute); len(drops) < 3 {
			t.Fatalf("%d drops in five minutes after an announcement, want at least 3", len(drops))
		}
		check(drops)
		if !strings.Contains(d.log.String(), "cannot connect again") {
			t.Error("a reconnect that failed is not in the log")
		}
	})
}

// TestExamine: a check waits three quarters of an interval. After a drop that did not help, a check
// waits for the timeout, because the network may be slow. If the caller ends the check early, or
// another connection replaced the old one, the link drops nothing.
func TestExamine(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.line.dead = true
		look := func(patience time.Duration, drops int) {
			t.Helper()
			wait := took(func() {
				if err := d.Examine(t.Context(), "zo"); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
			if wait != patience || len(d.line.drops) != drops {
				t.Errorf("%v and %d drops, want %v and %d", wait, len(d.line.drops), patience, drops)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.Examine(ctx, "zo"); err == nil || len(d.line.drops) != 0 {
			t.Errorf("ended early: %v and %d drops", err, len(d.line.drops))
		}
		d.line.replaced = true
		look(every*3/4, 0)
		d.line.replaced = false
		look(every*3/4, 1)
		look(timeout, 1) // too soon for another drop
		d.heard = time.Now()
		look(every*3/4, 2)
	})
}

// TestForged: the link ignores and counts answers that the coordinator did not sign, and the error
// says what to compare.
func TestForged(t *testing.T) {
	signer, err := signed.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	subject, step := subjects.CatchUp(run, id), subjects.Step(run, id)
	each(t, signed.Keys{signer.Key()}, func(t *testing.T, d *device) {
		forged := true
		answers := func(subject string) func(frame []byte) [][]byte {
			return func(frame []byte) [][]byte {
				list := [][]byte{[]byte("forged")}
				if !forged {
					list = append(list, signer.Answer(subject, signed.RequestOf(frame), []byte("true")))
				}
				return list
			}
		}
		d.serve(t, subject, answers(subject))
		d.serve(t, step, answers(step))
		_, err := d.Records(t.Context(), []byte("?"))
		if !errors.Is(err, signed.ErrUnsigned) || !errors.Is(err, link.ErrQuiet) ||
			!strings.Contains(err.Error(), "1 answers: if there are no others, compare Config.C") {
			t.Errorf("only forged: %v", err)
		}
		if _, err = d.Step(t.Context(), []byte("?")); err == nil || errors.Is(err, link.ErrQuiet) {
			t.Errorf("a step with forged answers: %v", err)
		}
		forged = false
		for _, ask := range []func(context.Context, []byte) ([]byte, error){d.Records, d.Step} {
			b, err := ask(t.Context(), []byte("?"))
			if err != nil || !strings.HasPrefix(string(b), "true") {
				t.Errorf("forged, then true: %q, %v", b, err)
			}
		}
		if refused, unread := d.Refusals(); refused != 4 || unread != 0 {
			t.Errorf("refused %d, unread %d", refused, unread)
		}
	})
}
