package engine

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/survey"
)

// print writes an output as it appears in transcripts.
func (s *stage) print(o Output) {
	if o.Kind == OutHandOver {
		return // a test of whole runs compares records
	}
	fmt.Fprintf(&s.wire, "%d %d %s %s %x\n", o.Kind, o.N, o.ID, o.Token, o.Frame)
	switch o.Kind {
	case OutAnnounce:
		a := s.announcement(o.Frame)
		if o.Frame[1] == compact.Version {
			s.out.WriteString("  lean")
		}
		s.printAnnouncement(&a)
	case OutAppend:
		r, err := wire.DecodeRecord(o.Frame)
		s.check(err)
		s.printRecord(&r)
	case OutRetire:
		fmt.Fprintf(&s.out, "  retire %s\n", o.ID)
	case OutMember:
		fmt.Fprintf(&s.out, "  member %s\n", o.ID)
	case OutRespond:
		r, err := wire.DecodeJoinReply(o.Frame)
		s.check(err)
		fmt.Fprintf(&s.out, "  respond %s: %v slot=%d last=%d plan=%t %s\n",
			o.Token, r.Status, r.Slot, r.Last, len(r.Plan) > 0, r.Reason)
		if len(r.Announcement) > 0 {
			a, err := wire.DecodeAnnouncement(r.Announcement)
			s.check(err)
			s.out.WriteString("   ")
			s.printAnnouncement(&a)
		}
	case OutEvent:
		s.printEvent(o.Event)
	case OutFail:
		fmt.Fprintf(&s.out, "  fail: %v\n", o.Err)
	}
}

// announcement reads a frame of either form, with its records.
func (s *stage) announcement(frame []byte) wire.Announcement {
	a, err := compact.Decode(frame)
	s.check(err)
	if a.Compact() {
		record, err := a.Record(wire.HashRecord(s.stored(a.N - 2)))
		s.check(err)
		a.Records.Add(record)
	}
	return a.Announcement
}

func (s *stage) printAnnouncement(a *wire.Announcement) {
	fmt.Fprintf(&s.out, "  announce %v n=%d attempt=%d epoch=%d left=%d cohort=%d/%d step=%g "+
		"p=%d records=%d %s%s\n",
		a.State, a.N, a.Attempt, a.Epoch, a.Left, a.Cohort.Sampled, a.Cohort.Members, a.StepSize,
		a.Perturbations, a.Records.Len(), a.Reason,
		referenceText(a)+s.missingText(a)+surveyText(a))
}

func surveyText(a *wire.Announcement) string {
	if k := survey.Asked(a.Rest); k != survey.None {
		return fmt.Sprintf(" survey=%v", k)
	}
	return ""
}

func (s *stage) missingText(a *wire.Announcement) string {
	missing, ok := a.Missing()
	if !ok {
		return ""
	}
	text := "missing:"
	for slot, id := range s.core.cohort.Roster.IDs {
		if missing.Has(uint32(slot)) {
			text += " " + id
		}
	}
	return text
}

func (s *stage) printDevices() {
	for slot, id := range s.core.cohort.Roster.IDs {
		p := &s.core.cohort.Crowd.Members[slot]
		fmt.Fprintf(&s.out, "  %s %v declines=%d missed=%d latency=%g\n", id, p.State(s.core.now),
			p.Declines, p.Misses, p.Latency)
	}
}

func referenceText(a *wire.Announcement) string {
	r, ok := a.Reference()
	if !ok {
		return ""
	}
	return fmt.Sprintf("reference=%d:%x", r.N, bytes.TrimRight(r.Digest[:], "\x00"))
}

func (s *stage) printRecord(r *wire.Record) {
	fmt.Fprintf(&s.out, "  append %d %v epoch=%d", r.N, r.Kind, r.Epoch)
	switch r.Kind {
	case wire.KindRound:
		s.printRound(r.Round)
	case wire.KindEnd:
		fmt.Fprintf(&s.out, " %v %s", r.End.Reason, r.End.Text)
	case wire.KindRollback:
		fmt.Fprintf(&s.out, " to=%d", r.To)
	case wire.KindChange:
		fmt.Fprintf(&s.out, " %v", changeEvent(r.Change).Fields)
	}
	s.out.WriteByte('\n')
}

// printRound prints the parts of a round beyond a mean only if the round has them.
func (s *stage) printRound(r *wire.Round) {
	fmt.Fprintf(&s.out, " round=%d attempt=%d step=%g p=%d contributors=%d",
		r.Round, r.Attempt, r.StepSize, r.Perturbations, r.Contributors)
	if r.Phase > 0 {
		fmt.Fprintf(&s.out, " phase=%d", r.Phase)
	}
	if len(r.Slots) > 0 || r.Population > 0 {
		fmt.Fprintf(&s.out, " slots=%d of %d", r.Slots, r.Population)
	}
	precision := s.core.Plan.Precision
	for _, t := range r.Terms {
		g := precision.Values(t.Scalars, 1, precision.Len(t.Scalars))
		name := " g"
		if t.Back > 0 {
			name += fmt.Sprintf("-%d", t.Back)
		}
		if t.Source > 0 {
			name += fmt.Sprintf("@%d", t.Source)
		}
		fmt.Fprintf(&s.out, "%s=%v", name, g)
	}
	if len(r.Weights) > 0 {
		fmt.Fprintf(&s.out, " weights=%d", r.Weights)
	}
}

func (s *stage) printEvent(e *report.Event) {
	fmt.Fprintf(&s.out, "  event %v n=%d round=%d", e.Kind, e.N, e.Round)
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		fmt.Fprintf(&s.out, " attempt=%d contributors=%d loss=%g seconds=%g", e.Attempt,
			e.Contributors, e.Loss, e.Seconds)
	case report.Evaluated:
		v := e.Evaluation
		fmt.Fprintf(&s.out, " of=%d count=%d/%d samples=%d metrics=%v", v.N, v.Count, v.Asked,
			v.Samples, v.Metrics)
	case report.RunPaused:
		fmt.Fprintf(&s.out, " %s", e.Reason)
	case report.RunEnded:
		fmt.Fprintf(&s.out, " %v", e.End.Reason)
	case report.DigestsDiffer, report.Referred:
		fmt.Fprintf(&s.out, " %s", digestText(e.Digests))
	case report.Adopted:
		fmt.Fprintf(&s.out, " %v epoch=%d", e.Record, e.Epoch)
	case report.Refused:
		fmt.Fprintf(&s.out, " %v: %s", e.Record, e.Reason)
	case report.RolledBack:
		fmt.Fprintf(&s.out, " to=%d", e.To)
	case report.Surveyed:
		fmt.Fprintf(&s.out, " %v %v=%g answers=%d attempt=%d seconds=%g rows=%d: %s", e.Fields,
			e.Survey.Kind, e.Survey.Value, e.Survey.Answers, e.Attempt, e.Seconds,
			len(e.Survey.Rows), e.Survey.Why)
	case report.Changed:
		fmt.Fprintf(&s.out, " %v", e.Fields)
	case report.Left, report.Lost, report.Returned, report.Retired:
		fmt.Fprintf(&s.out, " %s present=%d", e.ID, e.Members)
	case report.SteppedOut:
		fmt.Fprintf(&s.out, " %s present=%d for %gs: %s", e.ID, e.Members, e.Seconds, e.Reason)
	case report.StillPaused:
		fmt.Fprintf(&s.out, " for %gs: %s", e.Seconds, e.Reason)
	case report.JoinRefused:
		fmt.Fprintf(&s.out, " %s: %s", e.ID, e.Reason)
	case report.Joined:
		fmt.Fprintf(&s.out, " %s members=%d", e.ID, e.Members)
	}
	s.out.WriteByte('\n')
}

func digestText(d report.DigestReports) string {
	text := fmt.Sprintf("of=%d", d.N)
	for _, v := range d.Values {
		text += fmt.Sprintf(" %x:%d", bytes.TrimRight(v.Digest[:], "\x00"), v.Devices)
	}
	if d.Source != "" {
		text += fmt.Sprintf(" reference=%x source=%s differing=%d%v",
			bytes.TrimRight(d.Reference[:], "\x00"), d.Source, d.Differing, d.Differ)
	}
	return text
}

func (s *stage) printAsked(ids []string) {
	var asked []string
	c := s.core
	for _, id := range ids {
		m, ok := c.cohort.Roster.Find(id)
		if ok && c.cohort.Asks(m) {
			asked = append(asked, id)
		}
	}
	fmt.Fprintf(&s.out, "  %s\n", strings.Join(asked, " "))
}

func (s *stage) printCounters() {
	v := reflect.ValueOf(s.core.Status().Counters)
	for i := range v.NumField() {
		if n := v.Field(i).Uint(); n > 0 {
			fmt.Fprintf(&s.out, "  %s=%d\n", v.Type().Field(i).Name, n)
		}
	}
}

func (s *stage) printStatus() {
	v := s.core.Status()
	fmt.Fprintf(&s.out, "  %v n=%d rounds=%d epoch=%d members=%d attempt=%d asked=%d "+
		"contributions=%d declines=%d loss=%g %s\n",
		v.State, v.N, v.Rounds, v.Epoch, v.Members, v.Attempt, v.Asked, v.Contributions, v.Declines,
		v.Loss, v.Reason)
	if v.Phase > 0 {
		fmt.Fprintf(&s.out, "  phase %d\n", v.Phase)
	}
	if v.Survey != "" {
		fmt.Fprintf(&s.out, "  asks for %v\n", v.Survey)
	}
	for _, d := range v.Digests {
		fmt.Fprintf(&s.out, "  digests %s\n", digestText(d))
	}
}

// checkOutput checks announcements and appends against the invariants of a core.
func (s *stage) checkOutput(o Output) {
	switch o.Kind {
	case OutAnnounce:
		a := s.announcement(o.Frame)
		n := a.N - uint64(a.Records.Len())
		a.Records.Each(func(record []byte) bool {
			if !bytes.Equal(s.stored(n), record) {
				s.t.Errorf("announcement of %d has a record %d that is not in the log", a.N, n)
			}
			n++
			return true
		})
	case OutAppend:
		if !bytes.Equal(o.Frame, s.core.next.frame) && s.core.phase() == appending {
			s.t.Errorf("append %d is not the bytes that are pending", o.N)
		}
		if gave, again := s.gave[o.N]; again && !bytes.Equal(gave, o.Frame) {
			s.t.Errorf("other bytes were handed out for record %d", o.N)
		}
		s.gave[o.N] = o.Frame
	}
}

// stored returns record n of the log.
func (s *stage) stored(n uint64) []byte {
	var got []byte
	s.check(s.log.Read(s.t.Context(), n, func(_ uint64,
		record []byte) bool {
		got = record
		return false
	}))
	return got
}

// checkCore checks the core's invariants.
func (s *stage) checkCore() {
	if s.core == nil {
		return
	}
	if err := s.core.valid(s.log.Last()); err != nil {
		s.t.Error(err)
	}
}

// valid returns the invariant of [Core] that does not hold. last is the log's last record.
func (c *Core) valid(last uint64) error {
	entries := uint32(0)
	for _, bits := range c.cohort.Answers.Slots {
		if bits&presence.Contributed != 0 {
			entries++
		}
	}
	for _, bits := range c.cohort.Answers.IDs {
		if bits&presence.Contributed != 0 {
			entries++
		}
	}
	switch {
	case c.N != last && (c.next.frame == nil || c.N > last):
		return fmt.Errorf("core is at record %d, the log at %d", c.N, last)
	case (c.next.frame != nil) != (c.phase() == appending || c.phase() == failed):
		return fmt.Errorf("phase %d with %d pending bytes", c.phase(), len(c.next.frame))
	case c.phase() == failed && c.next.trouble == "":
		return fmt.Errorf("a failed append without trouble")
	case c.next.trouble != "" && c.phase() != failed && c.phase() != appending:
		return fmt.Errorf("trouble without a pending append: %s", c.next.trouble)
	case c.Segments.Last != c.N:
		return fmt.Errorf("core is at record %d, segments at %d", c.N, c.Segments.Last)
	case c.phase() == collecting &&
		(entries != c.chain.Taken || entries != c.cohort.Answers.Contributions):
		return fmt.Errorf("%d devices contributed, %d counted, %d summed", entries,
			c.cohort.Answers.Contributions, c.chain.Taken)
	}
	return nil
}
