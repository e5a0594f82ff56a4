package quorum

import (
	"fmt"
	"math"
	"testing"
)

// TestNext lists the action that follows from an answer.
func TestNext(t *testing.T) {
	round := Quorum{Least: 2, Most: 4, Waits: 3}
	with := func(q Quorum, change func(*Quorum)) Quorum { change(&q); return q }
	have := func(q Quorum, n uint32) Quorum { q.Have = n; return q }
	rooted := with(round, func(q *Quorum) { q.Must = true })
	short := with(round, func(q *Quorum) { q.Short = true })
	open := with(round, func(q *Quorum) { q.Open, q.Waits = true, 0 })
	sketch := with(round, func(q *Quorum) { q.Most = math.MaxUint32 })
	step := with(round, func(q *Quorum) { q.Step = true })
	all := with(round, func(q *Quorum) { q.All, q.Most = true, 9 })
	last := with(step, func(q *Quorum) { q.Least, q.Most = 0, 0 })
	none := func(q Quorum) Quorum { q.Waits = 0; return q }
	paused := func(q Quorum) Quorum { q.Paused = true; return q }
	for _, tt := range []struct {
		name         string
		q            Quorum
		enough, full bool
		want         Action
	}{
		{"a round below its quorum", have(round, 1), false, false, Collect},
		{"with its quorum", have(round, 2), true, false, Grant},
		{"just below its target", have(round, 3), true, false, Grant},
		{"with its target", have(round, 4), true, true, Commit},
		{"with late work beyond its target", have(round, 9), true, true, Commit},
		{"whose devices all answered, too few", none(have(round, 1)), false, false, Settle},
		{"whose devices all answered", none(have(round, 2)), true, false, Settle},
		{"paused with its target", paused(have(round, 4)), true, true, Collect},
		{"paused, and nobody is waited for", paused(none(have(round, 1))), false, false, Collect},
		{"with its target, without a root", have(rooted, 4), false, false, Collect},
		{"beyond its target, without a root", have(rooted, 9), false, false, Collect},
		{"all answered, without a root", none(have(rooted, 4)), false, false, Settle},
		{"short, below its quorum", have(short, 1), false, false, Collect},
		{"short, with its quorum", have(short, 2), true, true, Commit},
		{"short, without a root", with(have(short, 3), func(q *Quorum) { q.Must = true }), false, false,
			Collect},
		{"short and paused", paused(have(short, 2)), true, true, Collect},
		{"open, below its target", have(open, 3), true, false, Collect},
		{"open, with its target", have(open, 4), true, true, Commit},
		{"open, short", with(have(open, 2), func(q *Quorum) { q.Short = true }), true, true, Commit},
		{"sketches never are enough", have(sketch, 1000), true, false, Grant},
		{"sketches of all", none(have(sketch, 1000)), true, false, Settle},
		{"of all, with its quorum", have(all, 2), true, false, Collect},
		{"of all, beyond the target of others", have(all, 8), true, false, Collect},
		{"of all, full", have(all, 9), true, true, Commit},
		{"of all, who answered", none(have(all, 3)), true, false, Settle},
		{"of all, who answered, too few", none(have(all, 1)), false, false, Settle},
		{"a step of all, with its quorum", with(have(step, 2), func(q *Quorum) { q.All = true }), true,
			false, Collect},
		{"a step below its quorum", have(step, 1), false, false, Collect},
		{"a step with its quorum", have(step, 2), true, false, Grant},
		{"a step with its target", have(step, 4), true, true, Settle},
		{"a step that all answered", none(have(step, 2)), true, false, Settle},
		{"a paused step", paused(have(step, 4)), true, true, Collect},
		{"the last step", have(last, 1), true, true, Settle},
		{"the last step, without shares", with(have(last, 1), func(q *Quorum) { q.Must = true }), false,
			false, Collect},
	} {
		if got := tt.q.Next(); got != tt.want || tt.q.Enough() != tt.enough || tt.q.Full() != tt.full {
			t.Errorf("%s: %+v: enough %t, full %t, next %d, want %t, %t, %d", tt.name, tt.q,
				tt.q.Enough(), tt.q.Full(), got, tt.enough, tt.full, tt.want)
		}
	}
}

// TestLaws: for all small quorums, Next never closes a round that must not close, and more answers
// never move a round farther from closing.
func TestLaws(t *testing.T) {
	bit := func(i, at int) bool { return i>>at&1 > 0 }
	for i := range 1 << 5 {
		for have := range uint32(5) {
			for least := range uint32(5) {
				q := Quorum{Have: have, Least: least, Most: 3, Must: bit(i, 0), Short: bit(i, 1),
					Paused: bit(i, 2), Step: bit(i, 3), Open: bit(i, 4), Waits: have % 2}
				name := fmt.Sprintf("%+v", q)
				if q.Next() == Commit && (q.Must || q.Paused || q.Step || have < least) {
					t.Error("it closes: ", name)
				}
				if q.Full() && !q.Enough() || q.Next() == Grant && !q.Enough() {
					t.Error("it is full, and has not enough: ", name)
				}
				more := q
				if more.Have++; q.Full() && !more.Full() || q.Enough() && !more.Enough() {
					t.Error("one more makes it less: ", name)
				}
			}
		}
	}
}
