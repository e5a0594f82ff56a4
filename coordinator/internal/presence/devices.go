package presence

import (
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
)

// Times are the times of a [report.Device], in milliseconds since the coordinator began.
type Times struct {
	Seen    uint64  // 0: not heard of by this coordinator
	Until   uint64  // it stepped out until then
	Latency float64 // from an announcement to its answer, smoothed; 0: none yet
}

// Devices returns what the coordinator knows about the members, by slot. list has names but no
// times, and times has the times of the same members. last is the last record of the log.
func (w *Crowd) Devices(names []string, last, now uint64) (list []report.Device, times []Times) {
	list = make([]report.Device, 0, len(w.Members))
	for slot := range w.Members {
		p := &w.Members[slot]
		d := report.Device{ID: names[slot], Slot: uint32(slot), State: p.State(now),
			Declines: p.Declines, Record: p.Record, Contributions: p.Contributions, SameID: p.Twin(),
			Values: p.Values}
		if 0 < p.Record && p.Record < last {
			d.Behind = last - p.Record
		}
		if p.About != nil {
			d.About = *p.About
		}
		if p.Seen > 0 {
			d.Missed = uint32(p.Misses)
		}
		list = append(list, d)
		times = append(times, Times{p.Seen, p.Until, p.Latency})
	}
	for _, a := range w.accused {
		list[a.Slot].Suspect = a.Why
	}
	return list, times
}

// BackBy returns the time when the break of the wanted-th device ends. If fewer devices are on a
// break, BackBy returns math.MaxUint64.
func (w *Crowd) BackBy(now uint64, wanted int) uint64 {
	var back []uint64
	for _, slot := range w.absent {
		if p := &w.Members[slot]; p.State(now) == report.DeviceAway {
			back = append(back, p.Until)
		}
	}
	if wanted < 1 || wanted > len(back) {
		return math.MaxUint64
	}
	slices.Sort(back)
	return back[wanted-1]
}

// Participation returns how evenly the members take part that are not retired.
func (w *Crowd) Participation() report.Participation {
	counts := make([]uint32, 0, len(w.Members))
	for i := range w.Members {
		if p := &w.Members[i]; !p.Retired {
			counts = append(counts, p.Contributions)
		}
	}
	return report.ParticipationOf(counts)
}
