package cohort

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const members = 6

// newCohort returns a listed roster of m0, m1, ..., with a quorum. The cohort's log ends with
// record 7.
func newCohort(t *testing.T, quorum uint32) (*Cohort, *runlog.Position) {
	t.Helper()
	p := chaintest.Plan(t)
	p.Members, p.Target, p.Quorum, p.OverSample = members, 2, quorum, 1
	log := &runlog.Position{}
	log.Plan, log.N, log.Rounds, log.Hash = *p, 7, 6, wire.Hash{7}
	var ids []string
	for slot := range members {
		ids = append(ids, fmt.Sprint("m", slot))
	}
	k, err := New(log, ids, nil, &policy.Set{})
	if err != nil {
		t.Fatal(err)
	}
	return &k, log
}

func member(slot int) presence.Device {
	return presence.Device{Slot: uint32(slot), ID: fmt.Sprint("m", slot)}
}

// TestWaits lists for which members an attempt waits, after events since the attempt began.
func TestWaits(t *testing.T) {
	contributes := func(slot int) func(*Cohort) {
		return func(k *Cohort) {
			waited := k.Waits(member(slot), k.Asks(member(slot)))
			k.Answers.Set(member(slot), presence.Contributed)
			k.Took(member(slot), 8, true, 10)
			k.Answered(waited)
		}
	}
	declines := func(slot int) func(*Cohort) {
		return func(k *Cohort) {
			waited := k.Waits(member(slot), k.Asks(member(slot)))
			k.Declined(member(slot), wire.DeclineLoss)
			k.Answered(waited)
		}
	}
	leaves := func(slot int) func(*Cohort) {
		return func(k *Cohort) {
			if k.Left(member(slot), 10) && k.Excuse(member(slot)) {
				k.Answered(true)
			}
		}
	}
	again := func(k *Cohort) { k.Ask(k.Attempt.Number+1, true, true, 20); k.Await(0) }
	for _, tt := range []struct {
		name    string
		before  []func(*Cohort)
		after   []func(*Cohort)
		waits   []uint32
		lacking int // for a quorum of 4
	}{
		{"nobody answered", nil, nil, []uint32{0, 1, 2, 3, 4, 5}, -2},
		{"one contributed", nil, []func(*Cohort){contributes(2)}, []uint32{0, 1, 3, 4, 5}, -2},
		{"one declined", nil, []func(*Cohort){declines(2)}, []uint32{0, 1, 3, 4, 5}, -2},
		{"one left", nil, []func(*Cohort){leaves(3)}, []uint32{0, 1, 2, 4, 5}, -1},
		{"one contributed and left", nil, []func(*Cohort){contributes(3), leaves(3)},
			[]uint32{0, 1, 2, 4, 5}, -2},
		{"two had left before", []func(*Cohort){leaves(0), leaves(1)}, nil, []uint32{2, 3, 4, 5}, 0},
		{"three had left before", []func(*Cohort){leaves(0), leaves(1), leaves(4)}, nil,
			[]uint32{2, 3, 5}, 1},
		{"one had left, and is back", []func(*Cohort){leaves(0)},
			[]func(*Cohort){func(k *Cohort) { k.Heard(member(0), 12) }}, []uint32{1, 2, 3, 4, 5}, -2},
		{"and asked again", []func(*Cohort){leaves(0)},
			[]func(*Cohort){func(k *Cohort) { k.Heard(member(0), 12) }, again},
			[]uint32{0, 1, 2, 3, 4, 5}, -2},
		{"who declined is asked again", nil, []func(*Cohort){declines(2), again},
			[]uint32{0, 1, 2, 3, 4, 5}, -2},
		{"who contributed is not", nil, []func(*Cohort){contributes(2), again},
			[]uint32{0, 1, 3, 4, 5}, -2},
		{"one is retired", []func(*Cohort){func(k *Cohort) { k.Retire(member(5), 5) }}, nil,
			[]uint32{0, 1, 2, 3, 4}, -1},
	} {
		k, _ := newCohort(t, 4)
		for _, do := range tt.before {
			do(k)
		}
		k.Next()
		k.Ask(0, true, true, 0)
		k.Await(0)
		for _, do := range tt.after {
			do(k)
		}
		var waits []uint32
		for slot := range members {
			if k.Waits(member(slot), k.Asks(member(slot))) {
				waits = append(waits, uint32(slot))
			}
		}
		missing, few := k.Missing()
		lacking := k.Lacking(k.Answers.Contributions)
		if !slices.Equal(waits, tt.waits) || int(k.Pending) != len(waits) || lacking != tt.lacking {
			t.Errorf("%s: waits for %v, pending %d, lacking %d, want %v and %d", tt.name, waits,
				k.Pending, lacking, tt.waits, tt.lacking)
		}
		for slot := range uint32(members) {
			if want := slices.Contains(waits, slot); !few || missing.Has(slot) != want {
				t.Errorf("%s: it names slot %d: %t, want %t", tt.name, slot, !want, want)
			}
		}
	}
}

// TestDraw lists how many members an attempt asks, for a target of 2, after some members left and
// others took a break until time 100.
func TestDraw(t *testing.T) {
	for _, tt := range []struct {
		name       string
		left, away int
		attempt    uint32
		now        uint64
		kept       []wire.Cohort
		sampled    uint64
	}{
		{name: "all are present", sampled: 2},
		{name: "the next attempt asks twice as many", attempt: 1, sampled: 4},
		{name: "at most all", attempt: 9, sampled: members},
		{name: "half are present", left: 3, sampled: 4},
		{name: "nobody is", left: 6, sampled: members},
		{name: "some take a break", away: 3, now: 99, sampled: 4},
		{name: "which is over", away: 3, now: 100, sampled: 2},
		{name: "a cohort is kept", left: 3, kept: []wire.Cohort{{Sampled: 5, Members: 5}}, sampled: 5},
		{name: "and no other", attempt: 1, kept: []wire.Cohort{{Sampled: 5, Members: 5}}, sampled: 4},
	} {
		k, _ := newCohort(t, 1)
		for slot := range tt.left {
			k.Left(member(slot), 0)
		}
		for slot := range tt.away {
			rest := (&wire.Away{Milliseconds: 100}).Append(nil)
			k.Rest(member(slot), &wire.Reply{Kind: wire.Decline, Rest: rest}, false, 0)
		}
		k.kept = tt.kept
		if got := k.Draw(tt.attempt, tt.now); got.Sampled != tt.sampled {
			t.Errorf("%s: it asks %d, want %d", tt.name, got.Sampled, tt.sampled)
		}
	}
}

// TestKept lists which records ask the cohorts of the record before.
func TestKept(t *testing.T) {
	for _, tt := range []struct {
		name     string
		once     uint8 // plan.Cohort
		n, point uint64
		kept     int
	}{
		{"the second phase of a round that draws once", 1, 8, 8, 2},
		{"of a round that draws twice", 0, 8, 8, 0},
		{"the next round", 1, 8, 0, 0},
		{"the same record, after a survey without one", 1, 7, 0, 0},
	} {
		k, log := newCohort(t, 1)
		log.Plan.Cohort = tt.once
		k.Next()
		for attempt := range uint32(2) {
			k.Ask(attempt, false, true, 0)
		}
		first := k.Attempt.Cohort
		k.Moved(nil, wire.Record{Prev: log.Hash})
		log.N, log.Point.N = tt.n, tt.point
		k.Next()
		if len(k.kept) != tt.kept || tt.kept > 0 && k.kept[1] != first {
			t.Errorf("%s keeps %v, want %d", tt.name, k.kept, tt.kept)
		}
		if len(k.Attempts) != 0 {
			t.Errorf("%s has attempts %v before its first", tt.name, k.Attempts)
		}
	}
}

// TestTimely lists which messages are answers to the open record, 8, or to the record before.
func TestTimely(t *testing.T) {
	k, log := newCohort(t, 1)
	k.Moved(nil, wire.Record{Prev: wire.Hash{6}})
	open, before := log.Hash.Tip(), wire.Hash{6}.Tip()
	for _, tt := range []struct {
		n    uint64
		tip  wire.Tip
		want bool
	}{
		{8, open, true}, {7, before, true}, {8, before, false}, {7, open, false}, {9, open, false},
		{6, before, false},
	} {
		if got := k.Timely(tt.n, tt.tip); got != tt.want {
			t.Errorf("record %d after %x: timely %t, want %t", tt.n, tt.tip, got, tt.want)
		}
	}
}

// TestRelied lists how long an attempt with a quorum waits for its last member, whose answers took
// 100 milliseconds each.
func TestRelied(t *testing.T) {
	for _, tt := range []struct {
		name   string
		vain   int // rounds that waited for it in vain
		since  uint64
		least  uint64
		answer bool
		want   bool
	}{
		{name: "it is not overdue", since: 799, want: true},
		{name: "it is", since: 800},
		{name: "but has longer", since: 800, least: 801, want: true},
		{name: "it was slow once, so it has twice as long", vain: 1, since: 1599, want: true},
		{name: "and no longer", vain: 1, since: 1600},
		{name: "it was slow too often", vain: 3, since: 1},
		{name: "it answered", since: 1, answer: true},
	} {
		k, _ := newCohort(t, 1)
		last := member(members - 1)
		k.Ask(0, true, true, 0)
		k.Heard(last, 100)
		k.Took(last, 7, true, 100)
		for slot := range members - 1 {
			k.Answers.Set(member(slot), presence.Contributed)
		}
		for range tt.vain {
			k.Crowd.Stalled(last.Slot)
		}
		if tt.answer {
			k.Answers.Set(last, presence.Contributed)
		}
		if got := k.Relied(tt.since, tt.least, 0); got != tt.want {
			t.Errorf("%s: relied on %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestOpenRoster: no attempt waits for a device of an open roster. The coordinator remembers such a
// device only by its answers.
func TestOpenRoster(t *testing.T) {
	_, log := newCohort(t, 1)
	log.Plan.Roster = plan.OpenRoster
	k, err := New(log, nil, nil, &policy.Set{})
	if err != nil {
		t.Fatal(err)
	}
	k.Next()
	k.Ask(0, false, true, 0)
	k.Await(0)
	m := presence.Device{ID: "anybody"}
	if asked := k.Asks(m); k.Waits(m, asked) || k.Pending != 0 || k.Asked() != 0 || k.Reachable != 2 {
		t.Errorf("it waits for %d of %d, reachable %d", k.Pending, k.Asked(), k.Reachable)
	}
	if k.Heard(m, 5) || k.Left(m, 5) || k.Same(m, presence.Answer{Record: 8}) ||
		k.Rest(m, &wire.Reply{}, true, 5) > 0 || k.Unused(0, 1) {
		t.Error("it remembers a device")
	}
	for answers, want := range map[int]bool{4*2 + 1024: false, 4*2 + 1025: true} {
		if k.Beyond(answers) != want {
			t.Errorf("%d answers are too many: %t, want %t", answers, !want, want)
		}
	}
	k.Answered(false)
	k.Answers.Set(m, presence.Contributed)
	k.Moved(nil, wire.Record{Prev: log.Hash})
	late := wire.Reply{N: 8, Tip: log.Hash.Tip()}
	log.N, log.Hash = 8, wire.Hash{8}
	k.Next()
	k.CountLate(m, &late)
	k.CountLate(presence.Device{ID: "another"}, &late)
	k.CountLate(presence.Device{ID: "another"}, &late)
	if k.Rate.Answers != 2 {
		t.Errorf("%d answered, want one in time and one late", k.Rate.Answers)
	}
}
