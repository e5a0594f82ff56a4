package device

import (
	"os"
	"runtime/debug"

	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
)

// limitGarbage makes Go collect garbage once there is [cost.GarbageBytes] of it. Go's own rule
// waits until the garbage takes as much memory as the model, so the process would grow to twice its
// size over some hours. The collector does not look into vectors, so its work does not grow with
// the model. A person who set GOGC has decided otherwise.
func limitGarbage(p *plan.Plan) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent(footprint.Bytes(p, footprint.Device{})))
	}
	return nil
}

// garbagePercent returns the value of GOGC for a process that holds the given bytes.
func garbagePercent(bytes uint64) int {
	return int(max(1, min(100, 100*cost.GarbageBytes/max(bytes, 1))))
}
