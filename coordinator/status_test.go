package coordinator

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStatusAndEventsEncode(t *testing.T) {
	status := Status{State: Deposed, Reference: &Reference{N: 3, Digest: Digest{0xab}}}
	b, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"State":"deposed"`, `"Reference":{"N":3,"Digest":"ab00000000000000"}`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("status %s, want %s in it", b, want)
		}
	}
	for kind := RoundDone; kind <= Referred; kind++ {
		if kind.String() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
	if b, err = json.Marshal(Event{Kind: RolledBack}); err != nil || !strings.Contains(string(b), `"Kind":"rolled back"`) {
		t.Errorf("event %s, %v, want its kind by name", b, err)
	}
}

func TestEveryCauseIsCountedAsDropped(t *testing.T) {
	c := Counters{Late: 1, Duplicate: 2, Unsampled: 4, Unknown: 8, Malformed: 16, NonFinite: 32, TooLarge: 64,
		WrongCount: 128, WrongTip: 256, OtherRecord: 512, Overflow: 1024, Stale: 2048, Contributions: 1 << 40}
	if got := c.Dropped(); got != 4095 {
		t.Errorf("%d dropped, want 4095", got)
	}
}
