package report

import (
	"fmt"
	"slices"
)

// A Participation says how evenly the devices of a run take part. A device whose contributions
// count more often than those of others weighs more in the model.
type Participation struct {
	// Asked and Counted are of the last round: the devices that it asked, on an open roster about how
	// many, and the contributions that its record counts.
	Asked   uint32 `json:"asked"`
	Counted uint32 `json:"counted"`

	// Devices are those of which this coordinator counted the contributions since it began: all
	// members, or on an open roster at most 1024 of the devices that contributed, chosen by their ids.
	// Fewest, Median and Most are contributions of one of them.
	Devices uint32 `json:"devices"`
	Fewest  uint32 `json:"fewest"`
	Median  uint32 `json:"median"`
	Most    uint32 `json:"most"`
}

// ParticipationOf returns the participation of devices with the given contributions, and sorts
// these.
func ParticipationOf(contributions []uint32) (p Participation) {
	n := len(contributions)
	if n == 0 {
		return p
	}
	slices.Sort(contributions)
	return Participation{Devices: uint32(n), Fewest: contributions[0],
		Median: contributions[n/2], Most: contributions[n-1]}
}

// Spread says how evenly the devices contributed, such as "66 to 185, median 128, of 24 devices".
func (p *Participation) Spread() string {
	return fmt.Sprintf("%d to %d, median %d, of %d devices", p.Fewest, p.Most, p.Median, p.Devices)
}
