package catchup

import (
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A requester that names another client's subject for the answer gets no answer: with a request of
// 38 bytes, it must not put 64 KiB onto another app's subject, or into another device's inbox.
func TestAnswersGoToTheRequester(t *testing.T) {
	log := &runlog.Memory{}
	chaintest.Append(t, log, chaintest.LongRecords(t, 300, 200))
	memory := bus.NewMemory()
	defer memory.Close()
	s := newTestCatchUps(t, log, memory, 1<<20)
	request := wire.CatchUpRequest{From: 1, MaxBytes: wire.MaxFrame}
	for _, tt := range []struct {
		inbox string
		want  uint64
	}{
		{"", 0}, {"app.victim", 0}, {"_INBOX_d2.x", 0}, {"_INBOX_d11.x", 0}, {"_INBOX_d1", 0},
		{"_INBOX_d1.", 0}, {"_INBOX", 0}, {"zo.r.a.0", 0}, {"$JS.API.x", 0},
		{"_INBOX_d1.x.7", 1}, {"_INBOX.x", 1},
	} {
		before := s.Counts()
		s.answer(t.Context(), waitingRequest{bus.Message{Subject: subjects.CatchUp("r", "d1"),
			Reply: tt.inbox, Data: request.Append(nil)}, time.Now()})
		after := s.Counts()
		if after.Served-before.Served != tt.want || after.Garbled-before.Garbled != 1-tt.want {
			t.Errorf("a request with the inbox %q: %+v, want %d answered", tt.inbox, after, tt.want)
		}
	}
}
