package cost

import (
	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
)

// A Process is the memory in bytes of the whole process of a device: what the plan makes the device
// allocate, and what the program takes whatever the plan is. It does not count what the app's loss
// allocates.
type Process struct {
	Flat      uint64 `json:"flat"`      // an app in Go whose loss takes a flat vector
	Streaming uint64 `json:"streaming"` // an app in Go whose loss reads block by block
	// Exec is the memory of `zofl exec`. It includes the file of the parameters, which `zofl exec`
	// shares with its program, for a program that takes one point at a time. Each further point takes
	// 4 bytes for each parameter. Gradients take 12: for the point, the gradient, and their file.
	Exec uint64 `json:"exec"`
}

// AppBytes and ProgramBytes are what a process takes besides what the plan makes it allocate: the
// pages of the program's file, Go's runtime, the connection, and garbage. AppBytes is for an app in
// Go that links package client, ProgramBytes for the program zofl. The program zofl collects its
// garbage once it has GarbageBytes of it.
const (
	AppBytes     = 12_000_000
	ProgramBytes = 36_000_000 + GarbageBytes
	GarbageBytes = 8_000_000
)

// ProcessOf returns the memory of the processes of a plan's devices.
func ProcessOf(p *plan.Plan) Process {
	streaming := footprint.Bytes(p, footprint.Device{})
	return Process{
		Flat:      footprint.Bytes(p, footprint.Device{Flat: true}) + AppBytes,
		Streaming: streaming + AppBytes,
		Exec:      streaming + 4*p.Dim + ProgramBytes,
	}
}
