package engine

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// request requests a record as an operator does.
func (s *stage) request(name string, args []string) {
	r := &wire.Record{Kind: wire.KindRollback}
	if name == "rollback" {
		r.To = s.number(args[0])
	} else {
		r.Kind, r.Change = wire.KindChange, s.change(args)
	}
	if err := s.core.allows(r); err != nil {
		fmt.Fprintf(&s.out, "  error: %v\n", err)
		return
	}
	s.step(Input{Kind: InRequest, Record: r})
}

// send sends a reply from each id before the first key=value.
func (s *stage) send(name string, args []string) {
	ids, keys := splitArgs(args)
	ids = s.expand(ids)
	if v, ok := keys["some"]; ok {
		ids = ids[:s.number(v)]
	}
	r := wire.Reply{N: s.core.N + 1, Tip: s.core.Hash.Tip(), Weight: 1, Loss: 1}
	switch name {
	case "reply", "survey":
		r.Kind = wire.Contribution
	case "decline":
		r.Kind, r.Reason = wire.Decline, wire.DeclinePolicy
	case "goodbye":
		r.Kind, r.Reason = wire.Decline, wire.DeclineLeaving
	case "eval":
		r.Kind, r.N, r.Tip = wire.Evaluation, s.core.evaluation.N, s.core.evaluation.Tip
	case "digest":
		r.Kind, r.N = wire.DigestReport, s.core.N
	}
	if v, ok := keys["n"]; ok {
		r.N = s.number(v)
		r.Tip = s.tipFor(&r)
	}
	s.fill(&r, keys)
	for _, id := range ids {
		s.step(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
	}
}

// fill sets the fields of a reply that keys name.
func (s *stage) fill(r *wire.Reply, keys map[string]string) {
	control := wire.ControlVariate{N: s.core.Point.N}
	defer func() {
		if len(control.Scalars) > 0 {
			r.Rest = control.Append(nil)
		}
	}()
	for key, v := range keys {
		switch key {
		case "g":
			if keys["kind"] != "" {
				continue
			}
			r.Values = s.scalars(s.core.Plan.Precision, v)
		case "kind":
			r.Rest = survey.Answer(map[string]survey.Kind{"mu": survey.Mu, "step": survey.Step,
				"other": 99}[v])
			r.Values = s.scalars(plan.Single, keys["g"])
		case "group":
			r.Rest = wiregroups.AppendReply(nil, uint32(s.number(v)))
		case "slope":
			r.Rest = survey.Slope(s.float(v))
		case "m":
			r.Values = s.scalars(plan.Single, v)
		case "c":
			control.Scalars = s.scalars(s.core.Plan.Precision, v)
		case "cn":
			control.N = s.number(v)
		case "w":
			r.Weight = uint32(s.number(v))
		case "loss":
			r.Loss = s.float(v)
		case "away":
			r.Rest = (&wire.Away{Milliseconds: s.number(v)}).Append(nil)
		case "reason":
			r.Reason = wire.DeclineReason(s.number(v))
		case "d":
			b, err := hex.DecodeString(v)
			s.check(err)
			copy(r.Digest[:], b)
		case "tip":
			b, err := hex.DecodeString(v)
			s.check(err)
			r.Tip = wire.Tip{}
			copy(r.Tip[:], b)
		}
	}
}

// knows joins a device that has a plan, and applied records up to one record: "knows ID plan=P n=N
// [tip=other]", where P is ours, other (of the same run key), foreign or none. The device has the
// log's records, as far as the log has them.
func (s *stage) knows(args []string) {
	ids, keys := splitArgs(args)
	known := wire.Known{}
	if keys["plan"] != "none" {
		known = wire.Known{Key: wire.KeyTip(&s.core.Plan), Plan: wire.HashRecord(s.core.First).Tip()}
		known.N, known.Tip = s.number(keys["n"]), wire.Tip{9}
		if tip, ok := s.core.Tip(known.N); ok && keys["tip"] != "other" {
			known.Tip = tip
		}
	}
	switch keys["plan"] {
	case "other":
		known.Plan[0]++
	case "foreign":
		known.Plan[0]++
		known.Key[0]++
	}
	s.step(Input{Kind: InJoin, ID: ids[0], Token: "to." + ids[0],
		Frame: (&wire.JoinRequest{Rest: known.Append(nil)}).Append(nil)})
}

func (s *stage) scalars(precision plan.Precision, list string) (scalars wire.Scalars) {
	for x := range strings.SplitSeq(list, ",") {
		scalars = precision.Append(scalars, s.float(x))
	}
	return scalars
}

// tipFor returns the tip that a reply to a record of the log has.
func (s *stage) tipFor(r *wire.Reply) wire.Tip {
	n := r.N
	if r.Kind == wire.Contribution || r.Kind == wire.Decline {
		n--
	}
	var tip wire.Tip
	s.check(s.log.Read(s.t.Context(), n, func(_ uint64, record []byte) bool {
		tip = wire.HashRecord(record).Tip()
		return false
	}))
	return tip
}

// expand replaces @asked by the members of a listed roster that the current attempt asks, @0, @1,
// ... by those that earlier attempts asked, and @unasked by the rest.
func (s *stage) expand(ids []string) []string {
	var list []string
	for _, id := range ids {
		if id[0] != '@' {
			list = append(list, id)
			continue
		}
		for _, member := range s.core.cohort.Roster.IDs {
			if s.inGroup(id[1:], member) {
				list = append(list, member)
			}
		}
	}
	return list
}

func (s *stage) inGroup(group, id string) bool {
	c := s.core
	m, ok := c.cohort.Roster.Find(id)
	if !ok || len(c.cohort.Attempts) == 0 {
		return false
	}
	switch group {
	case "asked":
		return c.cohort.Asks(m)
	case "unasked":
		_, asked := c.cohort.HasAsked(m)
		return !asked
	}
	return c.cohort.Attempts[s.number(group)].Asks(c.Plan.Run, m.Slot, m.ID)
}

func splitArgs(args []string) (ids []string, keys map[string]string) {
	keys = map[string]string{}
	for _, a := range args {
		if key, value, ok := strings.Cut(a, "="); ok {
			keys[key] = value
		} else {
			ids = append(ids, a)
		}
	}
	return ids, keys
}

func (s *stage) number(v string) uint64 {
	n, err := strconv.ParseUint(v, 10, 64)
	s.check(err)
	return n
}

func (s *stage) float(v string) float32 {
	if v == "nan" {
		return float32(math.NaN())
	}
	x, err := strconv.ParseFloat(v, 32)
	s.check(err)
	return float32(x)
}

func (s *stage) check(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}
