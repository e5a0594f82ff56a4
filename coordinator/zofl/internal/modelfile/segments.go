package modelfile

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/plan"
)

// Segments returns a segment for each tensor. Segments returns nil if there are too many tensors,
// or only one without a name.
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

// NonEmpty returns the segments that have parameters.
func NonEmpty(all []plan.Segment) (segments []plan.Segment) {
	for _, s := range all {
		if s.Len > 0 {
			segments = append(segments, s)
		}
	}
	return segments
}

// plainName replaces the characters of a tensor's name that the name of a segment cannot have.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && plan.CheckName(string(c)) == nil {
			return c
		}
		return '_'
	}, name)
}

// hashedName returns the end of a tensor's name and a hash of the name. The hash distinguishes
// tensors whose names have the same end.
func hashedName(name string) string {
	sum := sha256.Sum256([]byte(name))
	end := plainName(name)
	end = end[max(0, len(end)-plan.MaxName+9):]
	return fmt.Sprintf("%s-%x", end, sum[:4])
}
