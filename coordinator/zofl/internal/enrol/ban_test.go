package enrol

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// A door is a guard of a broker that the test plays, at a time that the test sets.
type door struct {
	*Guard
	t      *testing.T
	dir    *Dir
	log    await.Text
	now    time.Time
	last   uint64 // connection
	closed []uint64
	out    []string // keys
}

func newDoor(t *testing.T) *door {
	d := &door{t: t, dir: make1(t, t.TempDir()), now: time.Now()}
	t.Cleanup(func() { _ = d.dir.Close() })
	d.Guard = NewGuard(d, "A", slog.New(slog.NewTextHandler(&d.log, nil)))
	return d
}

// HangUp implements [Broker].
func (d *door) HangUp(id uint64) error {
	d.closed = append(d.closed, id)
	return nil
}

// Bar implements [Broker].
func (d *door) Bar(_ string, users []string) error {
	d.out = users
	return nil
}

// user enrols a user.
func (d *door) user(role grant.Role, name string) server.ClientInfo {
	d.t.Helper()
	card, err := d.dir.Add(role, name)
	if err != nil {
		d.t.Fatal(err)
	}
	claims, err := jwt.DecodeUserClaims(card.JWT)
	if err != nil {
		d.t.Fatal(err)
	}
	return server.ClientInfo{User: claims.Subject, Jwt: card.JWT}
}

func (d *door) shutOut() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.out)
}

// connects says whether a user may connect now.
func (d *door) connects(user server.ClientInfo) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	user.ID = d.last
	d.came(user, d.now)
	return !slices.Contains(d.closed, d.last)
}

func (d *door) after(wait time.Duration) { d.now = d.now.Add(wait) }

// TestBan: a user that had 10,000 messages turned away is out, for twice as long each time, and is
// named. Another user is not.
func TestBan(t *testing.T) {
	d := newDoor(t)
	evil, good := d.user(grant.Device, "evil"), d.user(grant.Device, "good")
	if !d.connects(evil) || !d.connects(good) {
		t.Fatal("a user cannot connect")
	}
	total := uint64(9_999)
	d.TurnedAway("evil", total, d.now)
	if !d.connects(evil) || len(d.Banned(d.now)) > 0 {
		t.Fatal("banned for less than 10,000 messages")
	}
	open := d.last // a connection of evil
	for i, out := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		total += 10_000
		d.TurnedAway("evil", total, d.now)
		if b := d.Banned(d.now); len(b) != 1 || b[0].ID != "evil" {
			t.Fatalf("ban %d: %v", i+1, b)
		}
		if len(d.out) != 1 || d.out[0] != evil.User {
			t.Fatalf("ban %d: the broker bars %v", i+1, d.out)
		}
		if !slices.Contains(d.closed, open) {
			t.Fatalf("ban %d: evil stays connected", i+1)
		}
		for range 3 {
			d.after(out * time.Minute / 4)
			if d.connects(evil) {
				t.Fatalf("ban %d: evil connects before %v", i+1, out*time.Minute)
			}
		}
		d.after(out * time.Minute / 4)
		if !d.connects(evil) || !d.connects(good) {
			t.Fatalf("ban %d: out after %v", i+1, out*time.Minute)
		}
		open = d.last - 1
	}
	if n := strings.Count(d.log.String(), "id=evil for="); n != 8 {
		t.Errorf("named %d times: %s", n, d.log.String())
	}
	// Who was good for an hour begins at a minute again, and a new coordinator counts from 0.
	d.after(time.Hour + time.Second)
	d.TurnedAway("evil", 0, d.now)
	if !d.connects(evil) {
		t.Error("a ban for no messages that a new coordinator counted")
	}
	d.TurnedAway("evil", 10_000, d.now)
	if d.connects(evil) {
		t.Error("no ban after 10,000 messages that a new coordinator counted")
	}
	d.after(time.Minute)
	if !d.connects(evil) {
		t.Error("a ban after an hour is no first ban")
	}
}

// TestBanIsLifted: the broker hears when a ban is over. If it forgets one, it hears of that again.
func TestBanIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		evil := d.user(grant.Device, "evil")
		d.connects(evil)
		d.TurnedAway("evil", 10_000, time.Now())
		for range 3 {
			d.mu.Lock()
			d.out = nil
			d.mu.Unlock()
			time.Sleep(2 * barEvery)
			d.now = time.Now()
			if d.connects(evil) || d.shutOut() != 1 {
				t.Fatalf("the broker forgot a ban, and then bars %v", d.out)
			}
		}
		time.Sleep(firstBan)
		synctest.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.out) > 0 {
			t.Errorf("the broker bars %v after the ban", d.out)
		}
	})
}

// TestBanForgets: messages that are turned away now and then, and connections that a restart
// closes, ban nobody.
func TestBanForgets(t *testing.T) {
	d := newDoor(t)
	pi, total := d.user(grant.Device, "pi"), uint64(0)
	for range 24 * 7 {
		d.after(time.Hour)
		total += 9_000
		d.TurnedAway("pi", total, d.now)
		for range 4 { // the broker has not noticed that the first two are dead
			d.connects(pi)
		}
	}
	if b := d.Banned(d.now); len(b) > 0 {
		t.Error(b)
	}
}

// TestBanAfterRenewal: what was turned away under earlier credentials does not count again.
func TestBanAfterRenewal(t *testing.T) {
	d := newDoor(t)
	card := func() server.ClientInfo {
		t.Helper()
		card, err := d.dir.AddTo(grant.Device, "pi", "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		claims, err := jwt.DecodeUserClaims(card.JWT)
		if err != nil {
			t.Fatal(err)
		}
		return server.ClientInfo{User: claims.Subject, Jwt: card.JWT}
	}
	d.connects(card())
	for i := range 3 {
		d.TurnedAway("pi", uint64(5_000*(i+1)), d.now)
		d.after(time.Hour)
	}
	renewed := card()
	d.connects(renewed)
	d.TurnedAway("pi", 15_001, d.now)
	if b := d.Banned(d.now); len(b) > 0 || !d.connects(renewed) {
		t.Errorf("banned for one message after a renewal: %v", b)
	}
}

// TestBanForConnections: a user that opens connections without end is banned, and an operator is
// not.
func TestBanForConnections(t *testing.T) {
	d := newDoor(t)
	evil, desk := d.user(grant.Device, "evil"), d.user(grant.Operator, "desk")
	for i := range 1002 { // two stay open, and each of the others costs ten messages
		if b := d.Banned(d.now); len(b) > 0 {
			t.Fatalf("banned after %d connections: %v", i, b)
		}
		d.connects(evil)
		if !d.connects(desk) {
			t.Fatal("an operator may not connect")
		}
	}
	if b := d.Banned(d.now); len(b) != 1 || b[0].ID != "evil" || d.connects(evil) {
		t.Errorf("banned: %v, want evil", b)
	}
}

// TestWiden: the account has room for all devices that are enrolled, and more than that is told to
// the broker.
func TestWiden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth")
	d, err := Make(path, About{Run: "r", Members: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if l := accountOf(t, d).Limits; l.Conn != 76 || l.Subs != 256 || l.Payload != 65536 {
		t.Errorf("limits %+v", l)
	}
	if err := d.writeJSON("ca.pem", ""); err != nil {
		t.Fatal(err)
	}
	told := 0
	for i := range 40 {
		if _, err := d.Add(grant.Device, fmt.Sprint("d", i)); err != nil {
			t.Fatal(err)
		}
		before := told
		err := d.Widen(func(string) error { told++; return errors.New("no broker") })
		if (err != nil) != (told > before) {
			t.Fatal(err)
		}
		if l := accountOf(t, d).Limits.Conn; l < int64(2*(i+1)+64) {
			t.Fatalf("%d connections for %d devices", l, i+1)
		}
	}
	if told != 3 {
		t.Errorf("told the broker %d times, want 3: for 7, 15 and 31 devices", told)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Make(path, About{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	if l := accountOf(t, d).Limits; l.Conn != 4*40+64 {
		t.Errorf("after a start: %d connections for 40 devices", l.Conn)
	}
}
