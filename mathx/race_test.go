//go:build race

package mathx

// stride is between the lengths that are tried: nothing here is concurrent, and the
// race detector makes a test of all of them take ten times as long. Without it
// check.sh tries all.
const stride = 13
