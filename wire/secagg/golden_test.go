package secagg_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

var update = flag.Bool("update", false, "write testdata/rounds.txt instead of comparing it")

const vectorFile = "testdata/rounds.txt"

// TestVectors compares three rounds with testdata/rounds.txt. The file has all bytes of the rounds,
// for ports to other languages.
func TestVectors(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "# All bytes of two rounds, in hex, and words of scalars. docs/secagg.md says")
	fmt.Fprintln(&b, "# what they mean. A device's random bytes are its slot, 32 times. Member i of")
	fmt.Fprintln(&b, "# slot s adds the words 1000000000*i + s and 4294967295 - i.")
	writeRound(t, &b, roundOf(4, 2), secret, map[uint32]secagg.Step{10: secagg.StepMask})
	writeRound(t, &b, roundOf(5, 2), nil, map[uint32]secagg.Step{
		1: secagg.StepKeys, 7: secagg.StepUnmask})
	writeNeighbors(t, &b)
	writeScalars(t, &b)
	fmt.Fprintln(&b, "\n# A round in which devices agree on lists.")
	writeRound(t, &b, agreeing(4), secret, map[uint32]secagg.Step{7: secagg.StepMask})
	if *update {
		if err := os.WriteFile(vectorFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the vectors differ: see git diff after -update\n%s", b.String())
	}
}

func writeRound(t *testing.T, b *strings.Builder, r secagg.Round, secret []byte,
	leaves map[uint32]secagg.Step) {
	t.Helper()
	fmt.Fprintf(b, "\nround\ncontext %x\nmembers %v\nwords %d\nsecret %x\n", r.Context, r.Members,
		r.Words, secret)
	f := newFleet(t, r, 1)
	left := map[uint32]bool{}
	for i, slot := range r.Members {
		f.values[slot] = []uint32{uint32(1000000000*i) + slot, 4294967295 - uint32(i)}
		random := bytes.NewReader(bytes.Repeat([]byte{byte(slot)}, 32))
		var err error
		if f.devices[slot], err = secagg.NewDevice(r, slot, random, secret); err != nil {
			t.Fatal(err)
		}
	}
	for f.server.Step() != secagg.StepDone {
		step := f.server.Step()
		for slot, before := range leaves {
			left[slot] = left[slot] || before == step
		}
		for _, slot := range f.server.Missing() {
			if !left[slot] {
				answer, err := f.answer(slot)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(b, "%v %d\n  given  %x\n  answer %x\n", step, slot,
					f.server.Give(slot), answer)
			}
		}
		if err := f.step(left); err != nil {
			t.Fatal(err)
		}
	}
	sum, slots, err := f.server.Sum()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "sum %v of %v\n", sum, slots)
}

// writeNeighbors writes the neighbors of device 1 in a round of 101 devices. The neighbors are the
// devices whose keys the server gives device 1.
func writeNeighbors(t *testing.T, b *strings.Builder) {
	t.Helper()
	r := roundOf(101, 1)
	f := newFleet(t, r, 1)
	if err := f.step(nil); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "\nneighbors\ncontext %x\nmembers %v\nwords %d\n", r.Context, r.Members, r.Words)
	var of []uint32
	given := f.server.Give(1)
	for _, slot := range r.Members {
		if bytes.Contains(given, f.devices[slot].Keys()[:64]) {
			of = append(of, slot)
		}
	}
	fmt.Fprintf(b, "of 1 %v\n", of)
}

func writeScalars(t *testing.T, b *strings.Builder) {
	t.Helper()
	fmt.Fprintln(b, "\nscalars")
	for _, c := range []secagg.Coding{{Range: 8, Units: 5}, {Range: 0.3, Units: 1 << 20}} {
		for _, v := range []float32{0, 1, -1, 0.1, 7.999, 8, -9, 1e-7, 3.5e-9} {
			for _, weight := range []uint32{1, 3} {
				word, cut, err := c.Word(v, weight)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(b, "range %v units %d value %v weight %d: word %d cut %v, back %v\n",
					c.Range, c.Units, v, weight, word, cut, c.Sum(word))
			}
		}
	}
}
