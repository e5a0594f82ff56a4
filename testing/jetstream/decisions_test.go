//go:build unix

package jetstream

import (
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
)

// decisions tests a deposed coordinator that does not know that another coordinator leads. The log
// refuses its decision, so that nobody hears of a pause that the leader does not know.
func decisions(t *testing.T, p place, run string) {
	open := func() *jetlog.Log {
		log, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run, LeaseTTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	a, b := open(), open()
	begin(t, a)
	kept := runlog.Decisions{Pause: &runlog.Pause{Reason: "the first one"}}
	if err := a.Decide(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	js, _ := p.stream(t, "ZO_"+run+"_LOG")
	lease, err := js.KeyValue(t.Context(), "ZO_"+run+"_LEASE")
	if err == nil {
		err = lease.Delete(t.Context(), "lease")
	}
	if err != nil {
		t.Fatal(err)
	}
	begin(t, b)
	if runlog.IsLost(a.Lost()) {
		t.Fatal("the first one knows that another one leads")
	}
	late := runlog.Decisions{Pause: &runlog.Pause{Reason: "too late"}}
	if err := a.Decide(t.Context(), late); !errors.Is(err, runlog.ErrDeposed) {
		t.Errorf("a decision of the first one: %v, want ErrDeposed", err)
	}
	for _, log := range []*jetlog.Log{a, b} {
		d, err := log.Decisions(t.Context())
		if err != nil || d.Pause == nil || d.Pause.Reason != "the first one" {
			t.Errorf("decided is %+v, %v, want %+v", d.Pause, err, kept.Pause)
		}
	}
	if err := b.Decide(t.Context(), runlog.Decisions{}); err != nil {
		t.Errorf("a decision of the leader: %v", err)
	}
}
