package report

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestStatusAndEventsEncode(t *testing.T) {
	status := Status{State: Deposed, Reference: &Reference{N: 3, Digest: Digest{0xab}}}
	b, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"State":"deposed"`,
		`"Reference":{"N":3,"Digest":"ab00000000000000"}`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("status %s, want %s in it", b, want)
		}
	}
	for kind := RoundDone; kind <= Referred; kind++ {
		if kind.String() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
	if b, err = json.Marshal(Event{Kind: RolledBack}); err != nil ||
		!strings.Contains(string(b), `"Kind":"rolled back"`) {
		t.Errorf("event %s, %v, want its kind by name", b, err)
	}
}

// TestEveryCauseIsCountedAsDropped: every counter below Adopted belongs to a cause.
func TestEveryCauseIsCountedAsDropped(t *testing.T) {
	c := Counters{Contributions: 1 << 40}
	fields := reflect.ValueOf(&c).Elem()
	adopted, _ := fields.Type().FieldByName("Adopted")
	var want []Drop
	for i := adopted.Index[0] + 1; i < fields.NumField(); i++ {
		fields.Field(i).SetUint(1 << len(want))
		cause := strings.ReplaceAll(fields.Type().Field(i).Name, "NonFinite", "Non-finite")
		cause = strings.TrimSpace(regexp.MustCompile("[A-Z]").ReplaceAllString(cause, " $0"))
		want = append(want, Drop{strings.ToLower(cause), 1 << len(want)})
	}
	if got := c.Drops(); !slices.Equal(got, want) {
		t.Errorf("drops %v, want %v", got, want)
	}
	if got := c.Dropped(); got != 1<<len(want)-1 {
		t.Errorf("%d dropped, want %d", got, 1<<len(want)-1)
	}
}
