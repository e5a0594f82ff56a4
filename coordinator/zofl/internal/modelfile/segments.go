package modelfile

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/plan"
)

// Segments returns a segment for each tensor, or nil if there are too many or none has a name.
func Segments(s *tensors.Selection) (segments []plan.Segment) {
	if len(s.Tensors) > plan.MaxSegments || s.Tensors[0].Name == "" && len(s.Tensors) == 1 {
		return nil
	}
	plain := map[string]int{}
	for _, t := range s.Tensors {
		plain[plainName(t.Name)]++
	}
	for _, t := range s.Tensors {
		name := plainName(t.Name)
		if plain[name] > 1 || plan.CheckName(name) != nil {
			name = hashedName(t.Name)
		}
		segments = append(segments, plan.Segment{Name: name, Len: t.Len})
	}
	return segments
}

// NonEmpty leaves out segments that have no parameters.
func NonEmpty(all []plan.Segment) (segments []plan.Segment) {
	for _, s := range all {
		if s.Len > 0 {
			segments = append(segments, s)
		}
	}
	return segments
}

// plainName writes a tensor's name in the characters of a segment's.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && plan.CheckName(string(c)) == nil {
			return c
		}
		return '_'
	}, name)
}

// hashedName is the end of a tensor's name followed by a hash, which distinguishes it from other
// names with the same end.
func hashedName(name string) string {
	sum := sha256.Sum256([]byte(name))
	end := plainName(name)
	end = end[max(0, len(end)-plan.MaxName+9):]
	return fmt.Sprintf("%s-%x", end, sum[:4])
}
