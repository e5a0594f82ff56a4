package roster

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// FuzzOpen: sealing a batch that Open returned gives the same bytes. The fuzzer need not compute a
// seal.
func FuzzOpen(f *testing.F) {
	for _, b := range []Batch{{}, Whole(wire.Hash{1}, []string{"a", "b"}, []string{"a"}),
		Whole(wire.Hash{}, []string{"pi-1"}, nil)} {
		text, _ := b.Seal(Sum{})
		f.Add(text)
		f.Add(text[:len(text)-len(sealWord)-65])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sum := Sum{}.Then(text)
		whole := append(append([]byte(nil), text...), sealWord...)
		for _, try := range [][]byte{text, append(whole, hexLine(sum)...)} {
			b, _, err := Open(try, Sum{})
			if err != nil {
				if !errors.Is(err, runlog.ErrCorrupt) {
					t.Errorf("error %v, want one that says the text is damaged", err)
				}
				continue
			}
			if again, _ := b.Seal(Sum{}); !bytes.Equal(again, try) {
				t.Errorf("%q is opened, and sealed as %q", try, again)
			}
			if _, _, err := b.Follow(nil, nil); err != nil && !errors.Is(err, runlog.ErrCorrupt) {
				t.Errorf("follow: %v", err)
			}
		}
	})
}

func hexLine(sum Sum) []byte {
	const digits = "0123456789abcdef"
	var line []byte
	for _, b := range sum {
		line = append(line, digits[b>>4], digits[b&15])
	}
	return append(line, '\n')
}
