package ratelimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// drain takes the messages that may be taken now.
func drain[T any](q *Queue[T]) (got []T) {
	for {
		m, ok := q.Pop()
		if !ok {
			return got
		}
		got = append(got, m)
	}
}

// Five honest senders alternate with a sender that floods the queue, and lose no message when the
// flood has taken all places.
func TestFloodCostsATurn(t *testing.T) {
	lost := map[string]int{}
	q := New(Config[string]{Most: 100, Dropped: func(m, name string, late bool) {
		if m[:len(name)] != name || late {
			t.Errorf("%s of %s was dropped, late: %t", m, name, late)
		}
		lost[name]++
	}})
	for i := range 150 {
		if got := q.Push(Sender{Name: "flood"}, fmt.Sprint("flood", i), 1); got != (i < 100) {
			t.Fatalf("message %d of the flood is queued: %t", i, got)
		}
	}
	for i := range 3 {
		for d := range 5 {
			name := fmt.Sprint("d", d)
			if !q.Push(Sender{Name: name}, fmt.Sprint(name, " ", i), 1) {
				t.Fatalf("message %d of %s has no place", i, name)
			}
		}
	}
	if lost["flood"] != 15 || len(lost) != 1 || q.Len() != 100 {
		t.Fatalf("lost %v, %d wait; want 15 of the flood, 100", lost, q.Len())
	}
	got := drain(q)
	honest := 0
	for i, m := range got[:18] {
		if m[0] == 'd' {
			honest++
		} else if want := fmt.Sprint("flood", i/6); m != want {
			t.Errorf("turn %d is that of %s, want %s", i, m, want)
		}
	}
	if honest != 15 || len(got) != 100 {
		t.Errorf("%d of 15 honest messages came in 18 turns, %d in all", honest, len(got))
	}
}

// Members and strangers have separate places, and alternate.
func TestStrangersDoNotDisplaceMembers(t *testing.T) {
	q := New(Config[int]{Most: 50, StrangerBytes: 400})
	for i := range 200 {
		q.Push(Sender{Name: fmt.Sprint("made up ", i)}, -1, 10)
	}
	if q.Len() != 40 {
		t.Errorf("%d strangers wait, want 400 bytes", q.Len())
	}
	for i := range 40 {
		if !q.Push(Sender{Name: fmt.Sprint("d", i), Member: true}, i, 1000) {
			t.Fatalf("member %d has no place", i)
		}
	}
	members := 0
	for range 40 {
		if m, _ := q.Pop(); m >= 0 {
			members++
		}
	}
	if members != 20 {
		t.Errorf("members had %d of 40 turns, want 20", members)
	}
}

// The queue bounds the bytes of one sender, except for a single message.
func TestFlowBytes(t *testing.T) {
	q := New(Config[int]{Most: 50, FlowBytes: 100})
	for i, want := range []bool{true, true, false, true} {
		if got := q.Push(Sender{Name: "a"}, i, []int{40, 50, 20, 10}[i]); got != want {
			t.Errorf("message %d is queued: %t", i, got)
		}
	}
	if !q.Push(Sender{Name: "b"}, 9, 5000) {
		t.Error("a long first message has no place")
	}
}

// All strangers together have one rate for metered messages. The queue drops a metered message that
// waits too long. Members do not wait.
func TestMetered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := 0
		q := New(Config[string]{Most: 1000, Metered: Limit{Rate: 2, Burst: 3},
			Patience: 10 * time.Second, Dropped: func(string, string, bool) { late++ }})
		ghost := func(i int) {
			q.Push(Sender{Name: fmt.Sprint(i % 2), Metered: true}, "ghost", 1)
		}
		for i := range 100 {
			ghost(i)
		}
		q.Push(Sender{Name: "d", Member: true, Metered: true}, "member", 1)
		if got := drain(q); len(got) != 4 {
			t.Fatalf("%d at once, want 3 ghosts and a member", len(got))
		}
		time.Sleep(5 * time.Second)
		if got := drain(q); len(got) != 3 {
			t.Errorf("%d after 5 s, want 3: the bucket holds no more", len(got))
		}
		time.Sleep(6 * time.Second)
		if got := drain(q); len(got) != 0 || late != 94 || q.Len() != 0 {
			t.Errorf("%d after their patience, %d dropped, %d wait", len(got), late, q.Len())
		}
		time.Sleep(time.Minute) // the timer
	})
}

// For random calls, a queue must agree with a slow model of lists.
func TestQueueAgainstLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	type message struct{ flow, n int }
	waits := map[string][]message{}
	q := New(Config[message]{Most: 30, FlowBytes: 4 << 10,
		Dropped: func(m message, name string, _ bool) {
			list := waits[name]
			if list[len(list)-1] != m {
				t.Fatalf("%v of %s was dropped, not its newest of %v", m, name, list)
			}
			waits[name] = list[:len(list)-1]
		}})
	sum := func() (n int) {
		for _, list := range waits {
			n += len(list)
		}
		return n
	}
	for i := range 20_000 {
		flow := rng.IntN(8)
		name := fmt.Sprint(flow)
		if rng.IntN(3) > 0 {
			m := message{flow, i}
			if q.Push(Sender{Name: name, Member: flow%2 == 0}, m, rng.IntN(2<<10)) {
				waits[name] = append(waits[name], m)
			}
		} else if m, ok := q.Pop(); ok {
			name := fmt.Sprint(m.flow)
			if waits[name][0] != m {
				t.Fatalf("took %v, want %v", m, waits[name][0])
			}
			waits[name] = waits[name][1:]
		} else if sum() > 0 {
			t.Fatalf("nothing to take of %v", waits)
		}
		if q.Len() != sum() || q.Len() > 60 {
			t.Fatalf("%d wait, want %d", q.Len(), sum())
		}
	}
}

func BenchmarkFlood(b *testing.B) {
	q := New(Config[int]{Most: 16384})
	for b.Loop() {
		q.Push(Sender{Name: "flood"}, 1, 38)
		q.Pop()
	}
}
