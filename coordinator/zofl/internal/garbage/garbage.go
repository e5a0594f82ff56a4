// Package garbage bounds the memory that Go's garbage takes.
package garbage

import (
	"os"
	"runtime/debug"

	"github.com/zofl/zofl/plan/cost"
)

// Limit makes Go collect garbage once there is [cost.GarbageBytes] of it, in a process that holds
// the given bytes. Go's own rule waits until the garbage takes as much memory as what is held, so
// the process of a large model would grow to twice its size over some hours. The collector does not
// look into vectors, so its work does not grow with the model. A person who set GOGC has decided
// otherwise.
func Limit(held uint64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent(held))
	}
}

// percent returns the value of GOGC for a process that holds the given bytes.
func percent(held uint64) int {
	return int(max(1, min(100, 100*cost.GarbageBytes/max(held, 1))))
}
