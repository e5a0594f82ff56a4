//go:build race

package fleet

// slower is about the factor by which the race detector slows replays. Separate processes run
// without the detector, so TestKill and TestAwayMemory need no factor.
const slower = 20
