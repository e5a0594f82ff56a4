package wiretest

import "slices"

// Count is the number of vectors.
const Count = 554

// Vectors generates all vectors.
func Vectors() []Vector {
	return slices.Concat(records(), rounds(), bodies(), plans(), announcements(), replies(),
		joins(), catchUps(), snapshots(), uploads(), objects(), leads())
}

// A set collects the vectors of one kind of frame.
type set struct {
	frame string
	list  []Vector
}

func (s *set) add(name, expect, comment string, v Value) {
	s.list = append(s.list, Vector{s.frame + "-" + name, s.frame, expect, comment, v})
}

// Lengths that no frame can have.
var (
	arrayBomb = Wide(0xdd, 0xffffffff)
	mapBomb   = Wide(0xdf, 0xffffffff)
	binBomb   = Wide(0xc6, 0xffffffff)
	strBomb   = Wide(0xdb, 0xffffffff)
)
