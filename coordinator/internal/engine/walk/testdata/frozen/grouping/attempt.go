package grouping

import "github.com/zofl/zofl/wire"

// An Attempt is whom an attempt to make a record asks.
type Attempt struct {
	Number uint32
	Cohort wire.Cohort
	Draw   uint64 // the record for which the cohort is drawn, see [plan.Plan.Draw]
	Groups Groups // where devices share directions by groups: these, and nobody else
}

// Asks says whether the attempt asks a device.
func (a *Attempt) Asks(run string, slot uint32, id string) bool {
	if a.Groups != nil {
		return a.Groups.Has(slot)
	}
	if a.Cohort.Members > 0 && a.Cohort.Sampled >= uint64(a.Cohort.Members) {
		return slot < a.Cohort.Members
	}
	return a.Cohort.Has(run, a.Draw, a.Number, slot, id)
}
