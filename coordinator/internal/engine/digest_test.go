package engine

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/digests"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// reportDigest returns the number of events that one report of a digest causes.
func (c *Core) reportDigest(id string, value byte) (told int) {
	r := wire.Reply{Kind: wire.DigestReport, N: c.N, Tip: c.Hash.Tip(), Digest: [8]byte{value}}
	for _, o := range c.Step(1, Input{Kind: InReply, ID: id, Frame: r.Append(nil)}) {
		if o.Kind == OutEvent && o.Event.Kind == report.DigestsDiffer {
			told++
		}
	}
	return told
}

func TestOneDeviceDoesNotFillDigests(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.DigestEvery, plan.Members, plan.Target = 1, 3, 3
	c := newTestCore(t, plan, 3)
	c.reportDigest("d0", 1)
	told := 0
	for i := range 200 {
		told += c.reportDigest("d1", byte(2+i%100)) // new values
	}
	if told == 0 || told > digests.MostValues {
		t.Errorf("a device that changes its mind was told of %d times, want 1 to %d", told,
			digests.MostValues)
	}
	// There is still room for the reports of other devices.
	c.reportDigest("d1", 1)
	c.reportDigest("d2", 250)
	values := c.Status().Digests[0].Values
	want := []report.DigestCount{{Digest: [8]byte{1}, Devices: 2},
		{Digest: [8]byte{250}, Devices: 1}}
	if len(values) != 2 || values[0] != want[0] || values[1] != want[1] {
		t.Errorf("digests %v, want %v", values, want)
	}
	if c.counters.Overflow != 0 {
		t.Errorf("%d reports were dropped, want 0", c.counters.Overflow)
	}
}

func TestDigestIsToldOnce(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.DigestEvery = 1
	c := newTestCore(t, plan, 2)
	c.reportDigest("d0", 1)
	told := 0
	for range 50 {
		told += c.reportDigest("d1", 2)
		told += c.reportDigest("d1", 1)
	}
	if told != 1 {
		t.Errorf("a device that goes to and fro was told of %d times, want 1", told)
	}
}

func TestDigestsAreBounded(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.DigestEvery, plan.Members, plan.Target = 1, 3*digests.MostValues, 2
	c := newTestCore(t, plan, 3*digests.MostValues)
	for i, id := range ids(3 * digests.MostValues) {
		c.reportDigest(id, byte(1+i))
	}
	if got := c.Status().Digests[0]; len(got.Values) != digests.MostValues ||
		got.Reporters != 3*digests.MostValues {
		t.Errorf("%d values of %d devices are told, want %d of %d", len(got.Values), got.Reporters,
			digests.MostValues, 3*digests.MostValues)
	}
	// The core also counts values without an event, however many lying devices reported before.
	for _, id := range ids(3) {
		c.reportDigest(id, 200)
	}
	if got := c.Status().Digests[0]; got.Values[0].Digest != (report.Digest{200}) ||
		got.Values[0].Devices != 3 ||
		got.Reference != (report.Digest{200}) {
		t.Errorf("digests %+v, want three devices with c8, the reference", got)
	}
}
