package runlog

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// vectorOfDecisions is the text of some decisions, which every version must be able to read.
const vectorOfDecisions = "zofl decisions 1\n" +
	`{"pause":{"reason":"device a has record 80","claim":"80:0102ff0000000000"},` +
	`"planned":{"reason":"look","by":"ann@desk","after":100},` +
	`"accepted":["12","80:0102ff0000000000"]}` + "\n" + "050ed7da\n"

func someDecisions() Decisions {
	claim := Claim{N: 80, Tip: wire.Tip{1, 2, 0xff}}
	return Decisions{
		Pause:    &Pause{Reason: "device a has record 80", Claim: &claim},
		Planned:  &Pause{Reason: "look", By: "ann@desk", After: 100},
		Accepted: []Claim{{N: 12}, claim},
	}
}

func TestDecisionsVector(t *testing.T) {
	d := someDecisions()
	text, err := d.Text()
	if err != nil || string(text) != vectorOfDecisions {
		t.Errorf("the text is\n%s%v, want\n%s", text, err, vectorOfDecisions)
	}
	got, err := ReadDecisions([]byte(vectorOfDecisions))
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("it is read as %+v, %v, want %+v", got, err, d)
	}
}

// ReadDecisions detects any damage, but accepts an unknown field of a later version.
func TestReadDecisions(t *testing.T) {
	for i := range vectorOfDecisions {
		text := []byte(vectorOfDecisions)
		text[i] ^= 1
		if _, err := ReadDecisions(text); !errors.Is(err, ErrCorrupt) {
			t.Errorf("with byte %d changed: %v, want ErrCorrupt", i, err)
		}
		if _, err := ReadDecisions([]byte(vectorOfDecisions[:i])); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut after %d bytes: %v, want ErrCorrupt", i, err)
		}
	}
	long := make([]byte, maxDecisions+1)
	if _, err := ReadDecisions(long); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%d bytes: %v, want ErrCorrupt", len(long), err)
	}
	for text, want := range map[string]string{
		`{"later":[1,2],"pause":{"reason":"x","colour":"red"}}`: "",
		`{"accepted":["12:0102"]}`:                              "tip",
		`{"accepted":["twelve"]}`:                               "twelve",
		`{"accepted":["12:xx02ff0000000000"]}`:                  "invalid byte",
		`[]`:                                                    "cannot unmarshal",
	} {
		d, err := ReadDecisions(sealed(text))
		switch {
		case want == "" && (err != nil || d.Pause == nil || d.Pause.Reason != "x"):
			t.Errorf("%s: %+v, %v", text, d, err)
		case want != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want ErrCorrupt and %q", text, err, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	heard, other := Claim{80, wire.Tip{1}}, Claim{80, wire.Tip{2}}
	for _, c := range []struct {
		name  string
		claim Claim
		list  []Claim
		began uint64
		want  bool
	}{
		{"nothing was accepted", heard, nil, 200, false},
		{"the claim that was accepted", heard, []Claim{heard}, 20, true},
		{"another one of as many records, while the log is shorter", other, []Claim{heard}, 20,
			false},
		{"another one of as many records, which the log has passed", other, []Claim{heard}, 80,
			true},
		{"fewer records, which the log has passed", Claim{50, wire.Tip{3}}, []Claim{heard}, 90, true},
		{"more records", Claim{81, wire.Tip{4}}, []Claim{heard}, 90, false},
		{"a number that a person gave", other, []Claim{{N: 80}}, 20, true},
		{"more than that number", Claim{81, wire.Tip{4}}, []Claim{{N: 80}}, 90, false},
	} {
		d := Decisions{Accepted: c.list}
		if got := d.Accepts(c.claim, c.began); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// If there are too many claims, Accept keeps those with the largest N, in ascending order.
func TestAccept(t *testing.T) {
	var d Decisions
	for i := range uint64(3 * mostAccepted) {
		c := Claim{N: (i*7)%(3*mostAccepted) + 1}
		if !d.Accept(c) {
			t.Errorf("claim %d is not new", c.N)
		}
	}
	if len(d.Accepted) != mostAccepted {
		t.Fatalf("%d claims, want %d", len(d.Accepted), mostAccepted)
	}
	for i, c := range d.Accepted {
		if want := uint64(2*mostAccepted + i + 1); c.N != want {
			t.Errorf("claim %d is of record %d, want %d", i, c.N, want)
		}
	}
	if d.Accept(d.Accepted[3]) {
		t.Error("a claim is new twice")
	}
}

// Copy copies the decisions, so the copy of a paused log is paused.
func TestCopyDecisions(t *testing.T) {
	var from, to Memory
	ctx, d := context.Background(), someDecisions()
	if err := from.Decide(ctx, d); err != nil {
		t.Fatal(err)
	}
	if err := Copy(ctx, &to, &from, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := DecisionsOf(ctx, &to); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("the copy has decided %+v, %v, want %+v", got, err, d)
	}
}

// Text refuses decisions that are too long for ReadDecisions.
func TestDecisionsTooLong(t *testing.T) {
	d := Decisions{Pause: &Pause{Reason: strings.Repeat("x", maxDecisions)}}
	if _, err := d.Text(); err == nil || !strings.Contains(err.Error(), "shorter reason") {
		t.Errorf("%v, want an error that asks for a shorter reason", err)
	}
}

// sealed adds head and checksum.
func sealed(line string) []byte {
	var d Decisions
	text, _ := d.Text()
	return seal([]byte(strings.Replace(string(text[:len(text)-9]), "{}", line, 1)))
}
