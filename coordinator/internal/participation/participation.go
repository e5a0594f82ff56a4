// Package participation counts how often devices contributed, without a list of all devices. So a
// coordinator with an open roster, which keeps no such list, can tell whether the devices take part
// alike.
package participation

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"

	"github.com/zofl/zofl/coordinator/report"
)

// most bounds the devices in a sample, so that its memory does not grow with a fleet.
const most = 1024

// A Sample counts the contributions of some of the devices: those whose hash begins with enough
// zeros. It counts all devices until they are more than 1024, and then half of them, and so on. The
// choice does not depend on how often a device contributed, and a chosen device was counted from
// its first contribution on.
type Sample struct {
	counts map[string]uint32
	zeros  uint8 // that the hash of a counted device begins with
}

// New returns an empty sample.
func New() *Sample { return &Sample{counts: map[string]uint32{}} }

// Add counts a contribution of a device.
func (s *Sample) Add(id string) {
	if !s.chooses(id) {
		return
	}
	s.counts[id]++
	for len(s.counts) > most {
		s.zeros++
		maps.DeleteFunc(s.counts, func(id string, _ uint32) bool { return !s.chooses(id) })
	}
}

// chooses says whether s counts a device. The hash differs from the one by which devices know that
// a round asks them.
func (s *Sample) chooses(id string) bool {
	sum := sha256.Sum256([]byte("zofl/1 participation\x00" + id))
	return binary.BigEndian.Uint64(sum[:])>>(64-s.zeros) == 0
}

// Devices returns about how many devices have contributed, exactly if all of them are counted.
func (s *Sample) Devices() uint64 { return uint64(len(s.counts)) << s.zeros }

// Counts returns the contributions of each counted device, in no order.
func (s *Sample) Counts() []uint32 {
	list := make([]uint32, 0, len(s.counts))
	for _, n := range s.counts {
		list = append(list, n)
	}
	return list
}

// Report returns how evenly the counted devices took part.
func (s *Sample) Report() report.Participation { return report.ParticipationOf(s.Counts()) }
