package operator

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/wire"
)

// TestPrintStatus: how a run ended, which phase is under way, what was dropped for which
// cause, how vectors travel.
func TestPrintStatus(t *testing.T) {
	status := operate.StatusOf(report.Status{Run: "kitchen", State: report.Ended,
		End:   &wire.End{Reason: wire.EndDiverged},
		Phase: 2, Survey: "mu", Asked: 3, Contributions: 1, Uploads: 2, ObjectError: "disk full",
		Unjudged: true, Participation: report.Participation{Asked: 13, Counted: 6, Devices: 24,
			Fewest: 28, Median: 151, Most: 184},
		Digests: []report.DigestReports{{N: 64, Reporters: 1,
			Values: []report.DigestCount{{Devices: 1}}}},
		Counters: report.Counters{Late: 1, WrongControl: 4, UploadBytes: 2048, Busy: 3,
			Evicted: 5, Objects: 6, ObjectBytes: 100, ObjectErrors: 7}})
	var out strings.Builder
	printStatus(&out, &status)
	if status.Rounds = 1; lossOf(&status) != any(float32(0)) {
		t.Errorf("a loss of 0 is %v", lossOf(&status))
	}
	for _, want := range []string{"ended: diverged", "2 of 2",
		"losses to find mu; answers so far: 1 of 3", "5: 1 late, 4 wrong control",
		"disk full", "6 of 13 asked", "28 to 184, median 151, of 24 devices",
		"2; 2.0 KiB so far, 3 times told to wait, 5 dropped after silence",
		"6 pieces, 100 B, 7 errors",
		"0000: 1 device ", "no round yet", "nobody yet: the coordinator began"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %q", out.String(), want)
		}
	}
}
