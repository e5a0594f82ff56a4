package plancheck

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestNoReasonIsStale: package valid has a refusal for every reason here.
func TestNoReasonIsStale(t *testing.T) {
	var source string
	for _, name := range []string{"../valid/refusal.go", "../valid/dense.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source += string(b)
	}
	for _, r := range slices.Concat(denseReasons, scalarReasons, surrogateReasons) {
		if !strings.Contains(source, `{"`+r.field+`", `) ||
			!strings.Contains(source, strconv.Quote(r.what)+"},") {
			t.Errorf("%s: %q: package valid refuses nothing with these words", r.field, r.what)
		}
		if r.do == "" {
			t.Errorf("%s: %q: no way out", r.field, r.what)
		}
	}
}

// TestNoiseIsTheWrongField: the text says that dp_noise and dp_delta are wrong, and not dp_clip,
// beside which they are.
func TestNoiseIsTheWrongField(t *testing.T) {
	for field, want := range map[string]string{
		"dp_noise": "plan: dp_noise = 0.001: beside dp_clip it must be 0.01 or more: cutting to " +
			"dp_clip hides nothing without noise, and less noise hides next to nothing; set " +
			"dp_noise=1, or dp_clip=0 dp_by=device dp_delta=0",
		"dp_delta": "plan: dp_delta = 0.001: beside dp_clip it must be above 0 and below 1: the " +
			"reported epsilon holds but for that probability; set dp_delta=1e-5",
	} {
		at := slices.IndexFunc(noiseReasons, func(r reason) bool { return r.field == field })
		fault := &plan.Error{Field: field, Value: 0.001, Remedy: noiseReasons[at].what}
		if got := Explain(fault).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestExplain: errors that need no reason stay as they are.
func TestExplain(t *testing.T) {
	for _, err := range []error{
		nil, errors.New("other"),
		&plan.Error{Field: "dim", Value: 0, Remedy: "choose 1 or more"},
	} {
		if got := Explain(err); got != err {
			t.Errorf("got %v, want %v", got, err)
		}
	}
}
