package client_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// compactFrames makes hosts announce in the compact form whatever has such a form.
var compactFrames bool

// encode encodes an announcement.
func (h *host) encode(a wire.Announcement) []byte {
	if compactFrames && a.Records.Len() == 1 {
		bare := a
		bare.Records = wire.Records{}
		var only []byte
		a.Records.Each(func(record []byte) bool { only = record; return true })
		if frame, ok := compact.Append(nil, &bare, only); ok {
			return frame
		}
	}
	return a.Append(nil)
}

// TestCompactAnnouncements repeats other tests with announcements in the compact form: the devices
// do the same as with the long form.
func TestCompactAnnouncements(t *testing.T) {
	compactFrames = true
	t.Cleanup(func() { compactFrames = false })
	for name, test := range map[string]func(*testing.T){
		"old announcements":    TestOldAnnouncements,
		"forged epoch":         TestForgedEpoch,
		"lost tail":            TestLogLosesItsTail,
		"replaced log":         TestLogIsReplaced,
		"digest after loss":    TestDigestAfterLoss,
		"forked while away":    TestForkedWhileAway,
		"forged record":        TestForgedRecord,
		"forged continuation":  TestForgedContinuation,
		"missed records":       TestMissedRecords,
		"upgrade":              TestUpgradeStopsRun,
		"late replies":         TestLateReply,
		"repeated":             TestRepeatedAnnouncement,
		"repair":               TestRepair,
		"irrelevant reference": TestIrrelevantReference,
		"rollback":             TestRollback,
		"forged rollback":      TestForgedRollback,
		"round of a lost tail": TestRoundOfALostTail,
		"methods":              TestMethods,
		"random walks":         TestRandomWalks,
	} {
		t.Run(name, test)
	}
}

// TestCompactFrameAlone: a device that keeps up takes every record from a compact frame and
// requests no record. A device that missed a frame requests records once.
func TestCompactFrameAlone(t *testing.T) {
	compactFrames = true
	t.Cleanup(func() { compactFrames = false })
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 5 {
			h.round()
		}
		a := h.announcement()
		if frame, err := compact.Decode(h.encode(a)); err != nil || !frame.Compact() {
			t.Fatalf("the host announces in full: %v", err)
		}
		h.announce()
		h.one(wire.Contribution)
		h.announce() // once more, at the same head
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 0 {
			t.Errorf("asked for records %v", asked)
		}
		missed := h.last() + 1
		h.commit()
		h.commit()
		h.take()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
		if asked := h.asked(); !slices.Equal(asked, []uint64{missed}) {
			t.Errorf("asked for records %v, want %d", asked, missed)
		}
	})
}

// TestDamagedCompactFrame: if somebody changed the scalars or the tip of a frame, a device takes no
// record from that frame. The device takes the log's record instead, and believes no tip that
// contradicts it.
func TestDamagedCompactFrame(t *testing.T) {
	for _, damaged := range []string{"scalars", "tip"} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			for range 3 {
				h.round()
			}
			h.announce()
			h.take()
			h.commit()
			last := h.last()
			a := h.announcement()
			a.Records = wire.Records{}
			frame, ok := compact.Append(nil, &a, h.records[last-1])
			tip := h.tip().Tip()
			at := map[string]int{"scalars": len(frame) - 1, "tip": bytes.Index(frame, tip[:])}
			if !ok || at[damaged] < 0 {
				t.Fatalf("no compact form: %x", frame)
			}
			frame[at[damaged]] ^= 1
			d.progress()
			h.asked()
			h.sendFrame(frame)
			replies, asked := h.take(), h.asked()
			h.agrees(d, last)
			switch {
			case !slices.Contains(asked, last):
				t.Errorf("%s: asked for records %v, want %d", damaged, asked, last)
			case damaged == "scalars" && len(replies) != 1:
				t.Errorf("scalars: got %s, want a contribution", kinds(replies))
			case damaged == "tip" && (len(replies) > 0 || d.now().Err == nil):
				t.Errorf("tip: got %s, %+v", kinds(replies), d.now())
			}
			h.round()
			h.announce()
			h.agrees(d, last+1)
		})
	}
}
