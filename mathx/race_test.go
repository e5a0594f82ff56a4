//go:build race

package mathx

// stride is the distance between the lengths that tests try. Under the race detector tests skip
// most lengths, because they would take ten times as long, and nothing in package mathx is
// concurrent. Without the race detector, check.sh tries all lengths.
const stride = 13
