//go:build race

package fleet

// slower is by how much the race detector slows replays down, about. Real
// processes are not under it: TestKill and TestAwayMemory run without.
const slower = 20
