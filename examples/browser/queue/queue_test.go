package queue

import "testing"

// TestQueue: values come in order, those before the end too, and a reader wakes at the end.
func TestQueue(t *testing.T) {
	q := New[int]()
	const n = 1000
	go func() {
		for i := range n {
			q.Push(i)
		}
		q.Close()
		q.Push(n) // does nothing
	}()
	for i := range n {
		if v, ok := q.Pull(); v != i || !ok {
			t.Fatalf("got %d, %v, want %d", v, ok, i)
		}
	}
	for range 2 {
		if v, ok := q.Pull(); ok {
			t.Errorf("after the end: %d", v)
		}
	}
}

// TestPushSaysHowMany: so that a writer can give up on a reader.
func TestPushSaysHowMany(t *testing.T) {
	q := New[string]()
	q.Push("a")
	if n := q.Push("b"); n != 2 {
		t.Errorf("%d wait, want 2", n)
	}
	q.Pull()
	if n := q.Push("c"); n != 2 {
		t.Errorf("%d wait, want 2", n)
	}
}
