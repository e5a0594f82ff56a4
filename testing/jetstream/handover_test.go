//go:build unix

package jetstream

import (
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// damagedHandover tests a record whose message has a damaged handover. Nobody can take a header out
// of a stream, so the log goes on without the handover, and says so.
func damagedHandover(t *testing.T, p place, run string) {
	c := newChain(t, run)
	a := p.open(t, run)
	begin(t, a)
	c.appendTo(a, 2)
	closeLog(t, a)
	record := c.next(1)
	js, _ := p.stream(t, "ZO_"+run+"_LOG")
	_, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: subjects.Log(run), Data: record,
		Header: nats.Header{"Zofl-Handover": {wire.HashRecord(record).Tip().String() + " %%%"}}})
	if err != nil {
		t.Fatal(err)
	}
	var lines lineLog
	b, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run,
		Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, b)
	if state, err := b.HandedOver(t.Context()); state != nil || err != nil {
		t.Errorf("HandedOver() = %x, %v, want none", state, err)
	}
	lines.says(t, "handed over is damaged", "record=3")
}
