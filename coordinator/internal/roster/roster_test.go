package roster

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

func sealed(t *testing.T) (text []byte, prev Sum) {
	t.Helper()
	prev = Sum{}.Then([]byte("a\nb"))
	b := Whole(wire.Hash{1, 2, 0xab}, []string{"c", "device-4", "A_z"}, []string{"device-4"})
	text, sum := b.Seal(prev)
	got, again, err := Open(text, prev)
	if err != nil || again != sum || got.Log != b.Log || !slices.Equal(got.Entries, b.Entries) {
		t.Fatalf("Open(Seal(%v)) = %v, %v", b, got, err)
	}
	return text, prev
}

// Open detects any damage: a changed bit, a missing, added, exchanged or repeated line, another
// batch before.
func TestDamageShows(t *testing.T) {
	text, prev := sealed(t)
	refused := func(what string, damaged []byte, prev Sum) {
		t.Helper()
		if _, _, err := Open(damaged, prev); !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", what, err)
		}
	}
	for bit := range 8 * len(text) {
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		refused("a bit flipped", damaged, prev)
	}
	for cut := range text {
		refused("cut", text[:cut], prev)
	}
	refused("another batch before", text, Sum{})
	refused("appended", append(bytes.Clone(text), "+e\n"...), prev)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	for i := range lines[:len(lines)-1] {
		for j := range i {
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			refused("lines exchanged", bytes.Join(swapped, nil), prev)
		}
		refused("a line twice", bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil),
			prev)
		refused("a line missing", bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil), prev)
	}
}

func TestFollow(t *testing.T) {
	b := Batch{Entries: []Entry{{ID: "c"}, {ID: "a", Retired: true}, {ID: "d"}}}
	members, retired, err := b.Follow([]string{"a", "b"}, nil)
	if err != nil || !slices.Equal(members, []string{"a", "b", "c", "d"}) ||
		!slices.Equal(retired, []string{"a"}) {
		t.Errorf("members %v, retired %v, %v", members, retired, err)
	}
	if _, _, err := b.Follow(nil, nil); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("a stranger is retired: %v, want ErrCorrupt", err)
	}
}
