package modelfile

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/plan"
)

// TestSegmentNames: if a segment cannot have a tensor's name, the segment gets a shorter name that
// differs from all others.
func TestSegmentNames(t *testing.T) {
	var s tensors.Selection
	names := []string{"a.b", "a_b", "plain", "straße", strings.Repeat("layers.0.", 9) + "weight"}
	for _, name := range names {
		s.Tensors = append(s.Tensors, tensors.Tensor{Name: name, Len: 1})
	}
	seen := map[string]bool{}
	for i, got := range Segments(&s) {
		if plan.CheckName(got.Name) != nil || seen[got.Name] || got.Len != 1 {
			t.Errorf("%s became %+v", names[i], got)
		}
		seen[got.Name] = true
	}
	if !seen["plain"] || !seen["stra_e"] || seen["a_b"] {
		t.Errorf("got %v", seen)
	}
	for range plan.MaxSegments {
		s.Tensors = append(s.Tensors, tensors.Tensor{Name: "x", Len: 1})
	}
	if got := Segments(&s); got != nil {
		t.Errorf("%d segments, more than a plan can have", len(got))
	}
}
