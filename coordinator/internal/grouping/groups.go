package grouping

import (
	"iter"
	"slices"
)

// Groups are the slots that an attempt asks, for each group in ascending order.
type Groups [][]uint32

// Has says whether an attempt asks a slot.
func (g Groups) Has(slot uint32) bool {
	return slices.ContainsFunc(g, func(slots []uint32) bool {
		_, in := slices.BinarySearch(slots, slot)
		return in
	})
}

// Count returns how many devices an attempt asks.
func (g Groups) Count() (devices int) {
	for _, slots := range g {
		devices += len(slots)
	}
	return devices
}

// Slots returns the slots that an attempt asks, group by group.
func (g Groups) Slots() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, slots := range g {
			for _, slot := range slots {
				if !yield(slot) {
					return
				}
			}
		}
	}
}
