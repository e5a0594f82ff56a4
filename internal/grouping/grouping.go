// Package grouping has what devices and coordinators must agree on about groups in plans with
// sharing=groups: who chooses the groups of a round, and the last bytes of the frames that name
// groups. Package coordinator/internal/grouping chooses the groups.
package grouping

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// These values of [plan.Plan.Groups] say, for sharing=groups, how the coordinator chooses the
// devices that share directions.
const (
	// None: the plan has no groups.
	None uint8 = 0
	// Random: groups are drawn at random, by the coordinator or by devices: see [Draws].
	Random uint8 = 1
	// Sketch: devices whose gradients deviate from the mean gradient in opposite directions form a
	// group, so that the deviations cancel. In a survey, each device measures slopes along common
	// directions, and the coordinator estimates the deviations from these slopes. Weights of the
	// devices cancel the remaining deviation.
	Sketch uint8 = 2
	// Auto: all devices of a round form one group, or each device forms its own. In the first rounds,
	// all devices form one group, and the coordinator estimates from their scalars which choice has
	// less noise. The plan's group size is 0.
	Auto uint8 = 3
)

// Choice is the [survey.Result.Kind] that reports the choice of [Auto]. Devices need not do
// anything for this choice.
const Choice = "groups"

// MaxDevices bounds the number of devices in all groups of a round together, if announcements name
// the devices. See [Draws].
const MaxDevices = 128

// maxBytes bounds the names of [MaxDevices] devices: up to four bytes each, and one byte for the
// length of each group.
const maxBytes = 640

// Tail returns the bytes that follow an announcement of groups: first the result of [wire.Tail],
// with an empty array for each part that it leaves out, and then the array [groups]. groups is a
// sequence of unsigned LEB128 numbers. Each group is its number of devices, the first slot, and for
// each further slot, in ascending order, the difference from the slot before, less 1.
func Tail(reference wire.Reference, m wire.Missing, named bool, groups [][]uint32) []byte {
	b := wire.Tail(reference, m, named)
	if len(b) == 0 {
		b = codec.AppendArray(b, 0)
	}
	if !named {
		b = codec.AppendArray(b, 0)
	}
	var names []byte
	for _, slots := range groups {
		names = binary.AppendUvarint(names, uint64(len(slots)))
		next := uint32(0)
		for _, slot := range slots {
			names = binary.AppendUvarint(names, uint64(slot-next))
			next = slot + 1
		}
	}
	return codec.AppendBin(codec.AppendArray(b, 1), names)
}

// Of returns the group in which an announcement names a slot: the first one, from 0. ok is false if
// the announcement does not name the slot, or if its last bytes have a form that [Tail] does not
// write.
func Of(a *wire.Announcement, slot uint32) (group uint32, ok bool) {
	names, ok := namesOf(a.Rest)
	if !ok {
		return 0, false
	}
	found, at := false, uint32(0)
	for group := uint32(0); len(names) > 0; group++ {
		here, rest, ok := readGroup(names, slot)
		if !ok {
			return 0, false
		}
		if here && !found {
			found, at = true, group
		}
		names = rest
	}
	return at, found
}

// readGroup reads the first group of names, and says whether the group contains a slot.
func readGroup(names []byte, slot uint32) (has bool, rest []byte, ok bool) {
	devices, names, ok := number(names)
	next := uint64(0)
	for ; ok && devices > 0; devices-- {
		var gap uint64
		if gap, names, ok = number(names); ok {
			next += gap
			has = has || next == uint64(slot)
			next++
		}
	}
	return has, names, ok && next <= plan.MaxMembers
}

// number reads a number that is at most [plan.MaxMembers].
func number(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || v > plan.MaxMembers {
		return 0, nil, false
	}
	return v, b[n:], true
}

// namesOf returns the bytes that name the groups, which follow the reference and the missing slots.
func namesOf(rest []byte) (names []byte, ok bool) {
	d := codec.NewReader("groups", rest)
	switch d.Array("reference", codec.MaxFields, 1) {
	case 0:
	case 3:
		d.Uint("n", math.MaxInt64)
		d.Bin("tip", wire.MaxHead)
		d.Bin("digest", wire.MaxHead)
	default:
		return nil, false
	}
	switch d.Array("missing", codec.MaxFields, 1) {
	case 0:
	case 1:
		d.Bin("missing", wire.MaxMissing)
	default:
		return nil, false
	}
	d.Tuple("groups", 1)
	names = d.Bin("groups", maxBytes)
	return names, d.OK()
}

// AppendReply appends the bytes that follow a contribution to a round of groups, after the tail of
// [survey.Slope] if the plan has one: the array [group], the group along whose directions the
// device probed.
func AppendReply(b []byte, group uint32) []byte {
	return codec.AppendUint(codec.AppendArray(b, 1), uint64(group))
}

// OfReply returns the group that a contribution names. ok is false if the contribution names no
// group.
func OfReply(r *wire.Reply) (group uint32, ok bool) {
	d := codec.NewReader("group", r.Rest)
	if _, ok := survey.SlopeOf(r.Rest); ok {
		d.Array("control", 0, 1)
		d.Tuple("slope", 2)
		d.Uint("kind", 0)
		d.Float("slope")
	}
	d.Tuple("group", 1)
	v := d.Uint("group", MaxDevices)
	return uint32(v), d.OK()
}

// enough is the number of directions of a round above which more of them bring little, and cost
// every replica time and bytes. fewest is the least number of groups of a round.
const (
	enough = 160
	fewest = 5
)

// Enough returns how many groups of a round are enough, where more devices contribute than that.
func Enough(p *plan.Plan) uint32 {
	return max(enough/max(p.Steps*p.Perturbations, 1), fewest)
}

// Count returns the number of groups of a round. A round's record has at most one term for each
// group. Count is 0 if the plan has no groups.
func Count(p *plan.Plan) uint32 {
	if p.Sharing != plan.GroupDirections {
		return 0
	}
	return p.Sampled(plan.MaxMembers) / max(p.GroupSize, 1)
}
