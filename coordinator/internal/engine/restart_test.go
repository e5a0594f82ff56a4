package engine

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// crashes says when a stage restarts its coordinator.
type crashes uint8

const (
	never        crashes = iota
	afterInputs          // after every input
	beforeStores         // before each record and member is stored, once
	afterStores          // after it is stored, before the core knows
)

// recover starts another coordinator. Devices receive its announcement of the open record and send
// their replies again, because only the coordinator has forgotten them. Operators repeat lost
// requests.
func (s *stage) recover(lost bool) {
	s.recovering = true
	defer func() { s.recovering = false }()
	s.restart()
	if lost && s.last.Kind != InReply && s.last.Kind != InTick {
		s.step(s.last)
	}
	for _, in := range s.sent {
		r, err := wire.DecodeReply(in.Frame)
		s.check(err)
		if r.N == s.core.N+1 && r.Tip == s.core.Hash.Tip() {
			s.step(in)
		}
	}
}

// logsOf plays a transcript and returns the logs of its runs, without what a restarted coordinator
// writes differently: epochs, and the hashes that follow from epochs.
func logsOf(t *testing.T, name string, when crashes) (logs []string, restarts int) {
	script, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, crashes: when}
	keep := func() {
		if s.log == nil {
			return
		}
		var text strings.Builder
		err := s.log.Read(s.t.Context(), 1, func(_ uint64, record []byte) bool {
			r, err := wire.DecodeRecord(record)
			s.check(err)
			r.Epoch, r.Prev = 0, wire.Hash{}
			fmt.Fprintf(&text, "%x\n", r.Append(nil))
			return true
		})
		s.check(err)
		logs = append(logs, text.String())
	}
	for line := range bytes.Lines(script) {
		command, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "> ")
		if !ok {
			continue
		}
		if strings.HasPrefix(command, "plan") {
			keep()
		}
		s.command(strings.Fields(command))
	}
	keep()
	return logs, s.restarts
}

// TestRestartAtEveryPoint restarts the coordinator after every input, and around every append, in
// runs whose rounds wait for their whole cohort. The logs must equal the logs of a coordinator that
// never stopped.
//
// What is not in the log differs after a restart, and so do runs that depend on it: a pause, a
// queued request, the open attempt (its record names it, and the first attempt asks fewer devices),
// who had joined when the open round began (later ones may be asked now), the course of the loss,
// the evaluation so far, digests and the reference until they are reported again, and on an open
// roster the share of devices that answer.
func TestRestartAtEveryPoint(t *testing.T) {
	for _, name := range []string{"whole", "rounds", "weights", "schedule", "restart", "phases",
		"surveys", "trends"} {
		want, _ := logsOf(t, name, never)
		for _, when := range []crashes{afterInputs, beforeStores, afterStores} {
			got, restarts := logsOf(t, name, when)
			if restarts < 7 {
				t.Errorf("%s, crashes %d: %d restarts only", name, when, restarts)
			}
			if len(got) != len(want) {
				t.Fatalf("%s, crashes %d: %d logs, want %d", name, when, len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s, crashes %d, run %d:\n%s", name, when, i,
						firstDifference(got[i], want[i]))
				}
			}
		}
	}
}
