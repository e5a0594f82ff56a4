package ratelimit

import (
	"fmt"
	"testing"
	"time"
)

// Offenders keep a busy name among any number of made-up names, and their memory is bounded.
func TestOffendersAreBounded(t *testing.T) {
	var o Offenders
	for i := range 10_000 {
		o.Refused(Sender{Name: "busy", ID: "busy"})
		o.Faulty(Sender{Name: fmt.Sprint("made up ", i), ID: "x"})
		if len(o.seen) > mostOffenders {
			t.Fatalf("%d names are remembered", len(o.seen))
		}
	}
	worst := o.Worst(3)
	if len(worst) != 3 || worst[0].ID != "busy" || worst[0].Refused != 10_000 ||
		worst[0].Faulty != 0 {
		t.Errorf("worst %+v, want busy with 10,000", worst)
	}
	if refused, faulty := o.Of("nobody"); refused+faulty > 0 {
		t.Errorf("nobody has %d and %d", refused, faulty)
	}
}

// TestOffendersOfConnections: an offender named by its connection is shown with its last id.
func TestOffendersOfConnections(t *testing.T) {
	var o Offenders
	var r Register
	for _, id := range []string{"d1", "d2"} {
		o.Refused(r.Sender(id, "_INBOX.abc.1"))
	}
	o.Faulty(r.Sender("d3", "_INBOX_d3.abc.1"))
	if worst := o.Worst(3); len(worst) != 2 || worst[0].ID != "d2 of _INBOX.abc" ||
		worst[0].Refused != 2 || worst[1].ID != "d3" {
		t.Errorf("worst %+v, want d2 of _INBOX.abc with 2, and d3", worst)
	}
}

// Buckets forget only full buckets, and the number of buckets is bounded.
func TestBucketsForgetFullOnes(t *testing.T) {
	b := NewBuckets(Limit{Rate: 10, Burst: 20}, 100)
	now := time.Now()
	taken := 0
	for ms := range 10_000 {
		at := now.Add(time.Duration(ms) * time.Millisecond)
		if _, ok := b.Take("greedy", at); ok {
			taken++
		}
		if ms%1000 == 0 {
			b.Take(fmt.Sprint(ms), at)
		}
	}
	if taken < 118 || taken > 121 {
		t.Errorf("%d tokens in 10 s, want 20 and 10 a second", taken)
	}
	for i := range 1000 {
		b.Take(fmt.Sprint("made up ", i), now)
		if len(b.now)+len(b.before) > 200 {
			t.Fatalf("%d buckets", len(b.now)+len(b.before))
		}
	}
	if ready, ok := (&Bucket{}).Take(now, Limit{}); !ok || ready != now {
		t.Error("no limit is a limit")
	}
}

// All made-up ids of one connection have one name. Members, and senders with their own inboxes,
// have their ids as names.
func TestSender(t *testing.T) {
	r := &Register{}
	r.Add("d1")
	for _, tt := range []struct{ id, inbox, want string }{
		{"d1", "_INBOX.abc.1", "d1"}, {"x", "_INBOX.abc.1", "_INBOX.abc"},
		{"y", "_INBOX.abc", "_INBOX.abc"}, {"x", "_INBOX_x.abc.1", "x"}, {"x", "", "x"},
		{"x", "_INBOX.", "x"},
	} {
		if got := r.Sender(tt.id, tt.inbox); got.Name != tt.want || got.ID != tt.id ||
			got.Member != (tt.id == "d1") {
			t.Errorf("%s with %s is %+v, want %s", tt.id, tt.inbox, got, tt.want)
		}
	}
	r.Open = true
	if got := r.Sender("x", "_INBOX.abc.1"); got.Name != "x" {
		t.Errorf("on an open roster x is %s", got.Name)
	}
}
