// Package byzantine measures how much accuracy a run loses to each kind of lying device, and how
// much of this loss each rule for combining contributions prevents. The package also measures how
// much accuracy guards cost a fleet without liars.
package byzantine
