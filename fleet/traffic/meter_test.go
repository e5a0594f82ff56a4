package traffic

import (
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// A repeated reply does not count as a second one, even if others replied in between; the
// next round's reply does.
func TestMeterRepeatedReply(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	m := New(b, 2)
	heard := make(chan struct{})
	sub, err := m.Subscribe("zo.run.p.>", func(bus.Message) { heard <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	reply := func(id string, n uint64) {
		t.Helper()
		values := wire.Single.Append(nil, 1, 2, 3)
		r := wire.Reply{Kind: wire.Contribution, N: n, Weight: 1, Values: values}
		if err := b.Publish(subjects.Reply("run", 0, id), r.Append(nil)); err != nil {
			t.Fatal(err)
		}
		<-heard
	}
	reply("a", 2)
	first := m.Totals()
	reply("b", 2)
	once := m.Totals()
	reply("a", 2)
	again := m.Totals()
	reply("a", 3)
	next := m.Totals()
	if first.Up.Messages != 1 || first.Up.Scalars != 3 || first.Other != (Sum{}) {
		t.Errorf("after one reply %+v", first)
	}
	if once.Up.Messages != 2 || again.Up != once.Up || again.Other.Messages != 1 ||
		again.Other.Bytes != first.Up.Bytes {
		t.Errorf("after a reply that was sent again %+v, before %+v", again, once)
	}
	if next.Up.Messages != 3 || next.Up.Scalars != 9 || next.Other != again.Other {
		t.Errorf("after the next round's %+v", next)
	}
}
