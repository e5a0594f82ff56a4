//go:build linux && !race

package fleet

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// TestAwayMemory checks that a device's memory does not depend on the number of records that the
// device lacks. Each device is a process.
func TestAwayMemory(t *testing.T) {
	a := newAway(t, 2)
	a.train(1000)
	few := a.memoryOf("d0")
	a.train(50_000)
	many := a.memoryOf("d1")
	t.Logf("d = %d: %d KiB resident at most after 1,000 records, %d KiB after 51,000",
		*awayDim, few, many)
	if most := few + 24<<10; many > most {
		t.Errorf("catching up on 51,000 records took %d KiB, on 1,000 %d KiB: want at most %d",
			many, few, most)
	}
}

// memoryOf runs a device until the device has the log's last record. memoryOf returns the peak
// resident memory in KiB.
func (a *awayRun) memoryOf(id string) int {
	a.t.Helper()
	defer a.serve()()
	d := newParty(a.t, id, "client", "--url", a.broker.URL(), "--run", "away", "--id", id, "--json",
		"--objective", "bowl", "--dim", fmt.Sprint(*awayDim), "--store", filepath.Join(a.t.TempDir(), id))
	for began := time.Now(); d.report()["n"] !=
		float64(a.mem.Last()); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			a.t.Fatalf("not back after %v: %v", patience, d.report())
		}
	}
	defer d.kill()
	return d.memory()
}
