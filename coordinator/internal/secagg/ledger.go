package secagg

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/wire/secagg"
)

// What is false in an attempt often proves only that one of two devices lies: the one that dealt a
// share, or the one that passed it on or refused it. So a device that lies can accuse an honest
// one, but it is in each of its accusations itself. The ledger therefore keeps what it found in
// attempts, and leaves out the fewest devices that explain all of it. It leaves out nobody for one
// finding alone, and two devices that contradict each other again and again are one finding.

// accusations is the number of findings after which a device is left out, and the number of
// attempts after which two devices that contradict each other are named.
const accusations = 2

// mostFindings bounds the ledger. Older findings are forgotten.
const mostFindings = 64

// A finding says that one of some devices lied.
type finding struct {
	by    []uint32 // the device that lied; or the one that dealt, and the one that contradicts it
	maybe []uint32 // or one of these did, which is less likely
	times uint32   // attempts
}

func (f *finding) has(slot uint32) bool {
	return slices.Contains(f.by, slot) || slices.Contains(f.maybe, slot)
}

// A ledger remembers findings. It forgets them when the coordinator restarts.
type ledger struct{ findings []finding }

// note adds what was false in an attempt.
func (l *ledger) note(faults []secagg.Fault) {
	for len(faults) > 0 {
		slot, alone := suspect(faults)
		if !alone {
			break
		}
		l.add(finding{by: []uint32{slot}})
		faults = slices.DeleteFunc(faults, func(f secagg.Fault) bool { return concerns(&f, slot) })
	}
	var vague []secagg.Fault
	for _, f := range faults {
		if len(f.By) == 1 {
			l.add(finding{by: []uint32{f.Owner, f.By[0]}})
		} else {
			vague = append(vague, f)
		}
	}
	if len(vague) == 1 {
		l.add(finding{by: []uint32{vague[0].Owner}, maybe: vague[0].By})
	} else if len(vague) > 1 { // rather one that passed on false shares than several that dealt them
		l.add(finding{maybe: common(vague)})
	}
}

func (l *ledger) add(f finding) {
	f.times = 1
	if len(f.by) == 2 {
		for i := range l.findings {
			if known := &l.findings[i]; len(known.by) == 2 && known.has(f.by[0]) && known.has(f.by[1]) {
				known.times++
				return
			}
		}
	}
	if l.findings = append(l.findings, f); len(l.findings) > mostFindings {
		l.findings = slices.Delete(l.findings, 0, 1)
	}
}

// suspect returns a device that lied for sure, or else the one in most faults. alone says whether
// it explains two faults or more, or lied for sure.
func suspect(faults []secagg.Fault) (slot uint32, alone bool) {
	in := map[uint32]int{}
	for i := range faults {
		switch f := &faults[i]; len(f.By) {
		case 0:
			return f.Owner, true
		case 1:
			in[f.Owner]++
			in[f.By[0]]++
		}
	}
	most := 1
	for _, s := range slices.Sorted(maps.Keys(in)) {
		if in[s] > most {
			slot, most, alone = s, in[s], true
		}
	}
	return slot, alone
}

// concerns says whether a device may have caused a fault. Who is only one of many in By did not.
func concerns(f *secagg.Fault, slot uint32) bool {
	return f.Owner == slot || len(f.By) == 1 && f.By[0] == slot
}

// common returns the slots that may have passed on each of the false shares.
func common(faults []secagg.Fault) (slots []uint32) {
	in := map[uint32]int{}
	for i := range faults {
		for _, slot := range append(slices.Clone(faults[i].By), faults[i].Owner) {
			in[slot]++
		}
	}
	for slot, count := range in {
		if count == len(faults) {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slots
}

// accused returns the fewest devices that explain the findings, one after the other, and then the
// pairs that contradict each other, of which one lies. The list is by slot.
func (l *ledger) accused() (list []policy.Accused) {
	rest := slices.Clone(l.findings)
	for range 2 { // at last, of the findings in which nobody else may have lied
		for slot, ok := worst(rest); ok; slot, ok = worst(rest) {
			list = append(list, policy.Accused{Slot: slot, Times: timesOf(slot, rest),
				Or: insteadOf(slot, rest), Out: true})
			rest = slices.DeleteFunc(rest, func(f finding) bool { return f.has(slot) })
		}
		rest = slices.DeleteFunc(rest, func(f finding) bool { return len(f.maybe) > 0 })
	}
	for _, f := range rest {
		if len(f.by) == 2 && f.times >= accusations {
			list = append(list, policy.Accused{Slot: f.by[0], Times: f.times, Or: f.by[1:]},
				policy.Accused{Slot: f.by[1], Times: f.times, Or: f.by[:1]})
		}
	}
	slices.SortFunc(list, func(a, b policy.Accused) int { return cmp.Compare(a.Slot, b.Slot) })
	return list
}

// timesOf returns the number of attempts whose findings a device explains.
func timesOf(slot uint32, findings []finding) (times uint32) {
	for _, f := range findings {
		if f.has(slot) {
			times += f.times
		}
	}
	return times
}

// insteadOf returns the devices that, in place of one, explain all findings that it explains.
func insteadOf(slot uint32, findings []finding) (slots []uint32) {
	first := true
	for _, f := range findings {
		if !f.has(slot) {
			continue
		}
		if first {
			first, slots = false, slices.Concat(f.by, f.maybe)
		}
		slots = slices.DeleteFunc(slots, func(s uint32) bool { return s == slot || !f.has(s) })
	}
	slices.Sort(slots)
	return slots
}

// worst returns the device to leave out first: the one that explains most findings. A single liar
// is in all of them, whomever else it draws in. If several explain as many, it is the one that
// rather lied, and then the one that dealt. ok says whether that is enough: it rather lied in two
// findings, or is alone in explaining three or more.
func worst(findings []finding) (slot uint32, ok bool) {
	type score struct{ explains, rather, dealt int }
	of := map[uint32]score{}
	for i := range findings {
		f := &findings[i]
		for j, s := range f.by {
			sc := of[s]
			if sc.explains, sc.rather = sc.explains+1, sc.rather+1; j == 0 {
				sc.dealt++
			}
			of[s] = sc
		}
		for _, s := range f.maybe {
			sc := of[s]
			sc.explains++
			of[s] = sc
		}
	}
	best, alike := score{}, 0
	for _, s := range slices.Sorted(maps.Keys(of)) {
		sc := of[s]
		if sc.explains == best.explains {
			alike++
		} else if sc.explains > best.explains {
			alike = 1
		}
		if c := cmp.Or(cmp.Compare(sc.explains, best.explains), cmp.Compare(sc.rather, best.rather),
			cmp.Compare(sc.dealt, best.dealt)); c > 0 {
			slot, best = s, sc
		}
	}
	return slot, best.rather >= accusations || alike == 1 && best.explains > accusations
}
