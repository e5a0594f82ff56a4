package jetlog

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A record goes with its handover only, and without it if the broker has no room for both.
func TestHandoverHeader(t *testing.T) {
	record, tip := make([]byte, 1000), wire.Tip{1}
	h := handover{tip, tip.String() + " " + strings.Repeat("A", 300), 1000 + 317 + headerRoom}
	if got := h.header(record, tip); got.Get(handoverHeader) != h.value {
		t.Errorf("the header is %v", got)
	}
	if got := h.header(record, wire.Tip{2}); got != nil {
		t.Errorf("another record's header is %v", got)
	}
	h.most--
	if got := h.header(record, tip); got != nil {
		t.Errorf("a message that is too long has the header %v", got)
	}
	if got := new(handover).header(record, wire.Tip{}); got != nil {
		t.Errorf("without a handover the header is %v", got)
	}
}

// Whatever somebody wrote into a header, it is the handover, none, or damage.
func TestHandoverOf(t *testing.T) {
	tip := wire.Tip{1, 2}
	head := func(value string) []byte {
		return []byte("NATS/1.0\r\n" + handoverHeader + ": " + value + "\r\n\r\n")
	}
	long := strings.Repeat("A", 4*(runlog.MaxHandover/3+2))
	for _, test := range []struct {
		header  []byte
		want    string
		corrupt bool
	}{
		{head(tip.String() + " dHJlbmQ="), "trend", false},
		{head(wire.Tip{9}.String() + " dHJlbmQ="), "", false},
		{head("dHJlbmQ="), "", false},
		{nil, "", false},
		{[]byte("NATS/1.0\r\nOther: 1\r\n\r\n"), "", false},
		{head(tip.String() + " dHJlbm"), "", true},
		{head(tip.String() + " " + long), "", true},
		{[]byte("no header"), "", true},
	} {
		got, err := handoverOf(test.header, tip)
		if string(got) != test.want || errors.Is(err, runlog.ErrCorrupt) != test.corrupt {
			t.Errorf("%q is %q, %v", test.header, got, err)
		}
	}
	if _, err := nats.DecodeHeadersMsg(head("x")); err != nil {
		t.Error(err)
	}
}
