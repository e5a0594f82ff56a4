package plancheck

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
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

// TestExplain: errors that need no reason stay as they are.
func TestExplain(t *testing.T) {
	for _, err := range []error{
		nil, errors.New("other"),
		&wire.PlanError{Field: "dim", Value: 0, Remedy: "choose 1 or more"},
	} {
		if got := Explain(err); got != err {
			t.Errorf("got %v, want %v", got, err)
		}
	}
}
