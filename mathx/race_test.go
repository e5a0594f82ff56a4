//go:build race

package mathx

// stride is the distance between the lengths that tests try. Nothing here is concurrent,
// and under the race detector a test of all lengths would take ten times as long. Without
// the race detector, check.sh tries all lengths.
const stride = 13
