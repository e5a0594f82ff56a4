package grouping

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/zofl/zofl/plan"
)

// Draws says whether each device itself draws its group at random, so that announcements name no
// groups. Devices draw [Random] groups if the roster is open, because devices then have no slots,
// or if a round may ask more than [MaxDevices] devices.
func Draws(p *plan.Plan) bool {
	return p.Sharing == plan.GroupDirections && p.Groups == Random &&
		(p.Roster == plan.OpenRoster || p.Sampled(plan.MaxMembers) > MaxDevices)
}

// Names says whether announcements name the devices of each group, and each contribution names its
// group.
func Names(p *plan.Plan) bool { return p.Sharing == plan.GroupDirections && !Draws(p) }

// Drawn returns the group of a device in record n, if [Draws] is true for the plan: the first 8
// bytes, little-endian, of SHA-256("zofl/1 group" 00 run 00 LE64(n / Regroup) id), modulo [Count].
// All groups are equally probable.
func Drawn(p *plan.Plan, n uint64, id string) (group uint32) {
	b := []byte("zofl/1 group\x00" + p.Run + "\x00")
	b = binary.LittleEndian.AppendUint64(b, n/uint64(max(p.Regroup, 1)))
	sum := sha256.Sum256(append(b, id...))
	return uint32(binary.LittleEndian.Uint64(sum[:]) % uint64(max(Count(p), 1)))
}
