package engine

import (
	"bytes"
	"testing"
)

// FuzzPartOf finds parts in bytes that anybody may have written.
func FuzzPartOf(f *testing.F) {
	f.Add([]byte{1, 3, 7, 8, 9, 2, 0, 3, 1, 5}, uint8(3))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 7}, uint8(1))
	f.Add([]byte{1}, uint8(1))
	f.Fuzz(func(t *testing.T, state []byte, kind uint8) {
		if part := partOf(state, kind); !bytes.Contains(state, part) {
			t.Errorf("%x has no part %x", state, part)
		}
	})
}

// The part of each kind is found, whatever the others are.
func TestPartOf(t *testing.T) {
	state := []byte{1, 3, 7, 8, 9, 2, 0, 9, 1, 5}
	for kind, want := range map[uint8][]byte{1: {7, 8, 9}, 2: {}, 9: {5}, 3: nil} {
		if got := partOf(state, kind); !bytes.Equal(got, want) {
			t.Errorf("kind %d is %x, want %x", kind, got, want)
		}
	}
	if got := partOf(state[:4], 1); got != nil {
		t.Errorf("a part that is cut is %x", got)
	}
}
