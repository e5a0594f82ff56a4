package participation

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// TestSample: the sample counts few devices exactly, and of many it stays small, knows about how
// many there are, and has the whole count of each that it keeps.
func TestSample(t *testing.T) {
	for _, devices := range []int{1, 3, most, 2 * most, 20_000} {
		s := New()
		for round := range 3 {
			for i := range devices {
				if s.Add(fmt.Sprint("d", i)); i%2 > 0 && round == 0 {
					s.Add(fmt.Sprint("d", i))
				}
			}
		}
		if len(s.counts) > most || devices <= most && len(s.counts) != devices {
			t.Errorf("%d devices: %d are counted", devices, len(s.counts))
		}
		if got := int(s.Devices()); got*10 < devices*9 || got*9 > devices*10 {
			t.Errorf("%d devices: it says %d", devices, got)
		}
		for id, n := range s.counts {
			var i int
			fmt.Sscanf(id, "d%d", &i)
			if n != uint32(3+i%2) {
				t.Fatalf("%d devices: %s has %d contributions", devices, id, n)
			}
		}
	}
}

func TestReport(t *testing.T) {
	s := New()
	if got := s.Report(); got != (report.Participation{}) {
		t.Errorf("of nobody: %+v", got)
	}
	for i := range 5 {
		for range 10 * (i + 1) {
			s.Add(fmt.Sprint("d", i))
		}
	}
	if got := s.Report(); got.Devices != 5 || got.Fewest != 10 || got.Median != 30 || got.Most != 50 {
		t.Errorf("%+v", got)
	}
}
