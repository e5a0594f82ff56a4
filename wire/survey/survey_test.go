package survey_test

import (
	"encoding/hex"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// TestTails compares tails with fixed bytes, because other versions read the tails.
func TestTails(t *testing.T) {
	reference := wire.Reference{N: 64, Tip: wire.Tip{1}, Digest: [8]byte{2}}
	slots, _ := wire.MissingOf([]uint32{0, 5})
	for want, rest := range map[string][]byte{
		"90909102": wire.Tail(wire.Reference{}, nil, false),
		"9340c4080100000000000000c4080200000000000000" + "909102": wire.Tail(reference, nil, false),
		"90" + "91c4020004" + "9102": wire.Tail(wire.Reference{},
			slots, true),
		"9340c4080100000000000000c4080200000000000000" + "91c4020004" + "9102": wire.Tail(reference,
			slots, true),
	} {
		got := survey.Ask(rest, survey.Mu)
		if hex.EncodeToString(got) != want {
			t.Errorf("tail %x asks with %x, want %s", rest, got, want)
		}
		if k := survey.Asked(got); k != survey.Mu {
			t.Errorf("tail %x asks for %v, want %v", got, k, survey.Mu)
		}
		if k := survey.Asked(append(got, 7)); k != survey.Mu {
			t.Errorf("tail %x of a later version asks for %v, want %v", got, k, survey.Mu)
		}
		if k := survey.Asked(rest); k != survey.None {
			t.Errorf("tail %x asks for %v, want a round", rest, k)
		}
		// Readers of older versions find the parts that they know.
		a := wire.Announcement{N: 2, Rest: got}
		if r, ok := a.Reference(); ok != (len(rest) > 20) || ok && r != reference {
			t.Errorf("tail %x has reference %v %v", got, r, ok)
		}
		if m, ok := a.Missing(); ok && (!m.Has(5) || m.Has(1)) {
			t.Errorf("tail %x misses %x", got, []byte(m))
		}
	}
	answer := survey.Answer(survey.Mu)
	if hex.EncodeToString(answer) != "909102" || survey.Answered(answer) != survey.Mu {
		t.Errorf("an answer's tail is %x of %v", answer, survey.Answered(answer))
	}
	r := wire.Reply{Kind: wire.Contribution, N: 2, Rest: answer}
	if v, ok := r.Control(); ok {
		t.Errorf("an answer has a control variate %v", v)
	}
}

// broken are tails without a survey.
var broken = []string{"", "90", "9090", "909090", "90909141", "9091", "909092", "9090c0", "c0",
	"ddffffffff", "9090ddffffffff", "9091c5ffff", "9340c40101c40102", "90909202", "909091cd0100",
	"9090910200"}

func TestBrokenTails(t *testing.T) {
	for _, text := range broken {
		rest, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if k := survey.Asked(rest); k.Known() && text != "9090910200" {
			t.Errorf("tail %s asks for %v", text, k)
		}
		if k := survey.Answered(rest); k.Known() {
			t.Errorf("tail %s answers %v", text, k)
		}
	}
	control := wire.ControlVariate{N: 3, Scalars: make(wire.Scalars, 8)}
	if k := survey.Answered(append(control.Append(nil), survey.Answer(survey.Mu)...)); k.Known() {
		t.Errorf("a control variate answers %v", k)
	}
}

func TestSlope(t *testing.T) {
	for _, v := range []float32{0, -0.5, 1e30} {
		rest := survey.Slope(v)
		got, ok := survey.SlopeOf(rest)
		if !ok || got != v || survey.Answered(rest) != survey.None {
			t.Errorf("slope %v is %x, read as %v, %v", v, rest, got, ok)
		}
	}
	if rest := hex.EncodeToString(survey.Slope(-0.5)); rest != "909200cabf000000" {
		t.Errorf("a slope of -0.5 is %s", rest)
	}
	for _, text := range broken {
		rest, _ := hex.DecodeString(text)
		if v, ok := survey.SlopeOf(rest); ok {
			t.Errorf("tail %s has slope %v", text, v)
		}
	}
	if _, ok := survey.SlopeOf(survey.Answer(survey.Step)); ok {
		t.Error("an answer to a survey has a slope")
	}
}

func TestKinds(t *testing.T) {
	if n := survey.Mu.Values(); n != 19 {
		t.Errorf("mu has %d values, want 19", n)
	}
	if n := survey.Step.Values(); n != 17 {
		t.Errorf("step has %d values, want 17", n)
	}
	if a := survey.Lengths(); a[0] != 1./1048576 || a[10] != 1 || a[15] != 1024 {
		t.Errorf("lengths %v", a)
	}
	for k, known := range map[survey.Kind]bool{survey.None: false, survey.Step: true,
		survey.Mu: true, survey.Sketch: true, 99: false} {
		if k.Known() != known || k.String() == "" {
			t.Errorf("kind %d, %v: known %v", k, k, k.Known())
		}
	}
}

func FuzzTails(f *testing.F) {
	for _, text := range broken {
		rest, err := hex.DecodeString(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rest)
	}
	slots, _ := wire.MissingOf([]uint32{3, 4, 9})
	f.Add(survey.Ask(wire.Tail(wire.Reference{N: 1}, slots, true), survey.Mu))
	f.Add(survey.Answer(survey.Mu))
	f.Add(survey.Slope(2))
	f.Fuzz(func(t *testing.T, rest []byte) {
		survey.Answered(rest)
		survey.SlopeOf(rest)
		survey.Asked(rest)
		survey.Ask(rest, survey.Mu)
	})
}

// TestNames: every kind has a name, and no other text is the name of a kind.
func TestNames(t *testing.T) {
	for _, k := range []survey.Kind{survey.None, survey.Step, survey.Mu, survey.Sketch} {
		if got := survey.Named(k.String()); got != k {
			t.Errorf("%q: kind %d, want %d", k, got, k)
		}
	}
	p := &plan.Plan{ServerFields: plan.ServerFields{ServerRule: plan.ServerCMA}}
	for _, k := range []survey.Kind{survey.Step, survey.Mu} {
		name := k.NameIn(p)
		if got := survey.Named(name); got != k || (name == "sigma") != (k == survey.Mu) {
			t.Errorf("of cma: kind %d, %q, want %d", got, name, k)
		}
	}
	for _, name := range []string{"", "unknown", "groups", "Mu"} {
		if got := survey.Named(name); got != survey.None {
			t.Errorf("%q: kind %d", name, got)
		}
	}
}
