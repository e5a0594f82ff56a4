//go:build race

package fleet

// slower is about the factor by which the race detector slows replays down. Separate
// processes run without it: TestKill and TestAwayMemory need no factor.
const slower = 20
