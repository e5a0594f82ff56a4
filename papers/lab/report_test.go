package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func TestNoClaims(t *testing.T) {
	var b bytes.Buffer
	if err := (&Report{ID: "none"}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID     string
		Claims []Claim
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.ID != "none" || got.Claims == nil {
		t.Errorf("got %s, %v: want an empty list of claims", b.Bytes(), err)
	}
}

// TestTooShort: a run that is too short for a claim says so, whatever its figures say, and does not
// count it.
func TestTooShort(t *testing.T) {
	x := Experiment{ID: "short", Do: func(t *Trial) error {
		t.Report.Claim(true, "at any length", "1")
		t.Report.Needs(240, 2000, "queries")
		t.Report.Claim(true, "better", "0.2 against 0.1")
		t.Report.Claim(false, "worse", "0.2 against 0.1")
		t.Report.Needs(2000, 2000, "queries")
		t.Report.Claim(false, "as long as that", "2")
		return nil
	}}
	r, err := x.Run(t.Context(), &Env{Short: true})
	if err != nil {
		t.Fatal(err)
	}
	var text, object bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&object)); err != nil {
		t.Fatal(err)
	}
	const lacks = "the run has 240 of the 2000 queries that this takes"
	want := `--short: verdicts are of this size, which may be less than the paper's
holds          at any length: 1
cannot tell    better: ` + lacks + `; 0.2 against 0.1
cannot tell    worse: ` + lacks + `; 0.2 against 0.1
does not hold  as long as that: 2
short: 1 of 4 claims hold here, of 2 nobody can tell
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
	var got struct {
		Claims []struct {
			Holds    *bool
			TooShort string `json:"too_short"`
		}
	}
	if err := json.Unmarshal(object.Bytes(), &got); err != nil || len(got.Claims) != 4 {
		t.Fatalf("%v: %s", err, &object)
	}
	if c := got.Claims; !*c[0].Holds || c[0].TooShort != "" || c[1].Holds != nil ||
		c[2].Holds != nil || c[2].TooShort != lacks || c[3].Holds == nil || *c[3].Holds {
		t.Errorf("as JSON: %s", &object)
	}
}
