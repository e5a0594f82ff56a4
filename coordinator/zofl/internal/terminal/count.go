package terminal

import (
	"fmt"
	"strings"
)

// Count writes a number of things: 1 device, 5 devices, 0 losses.
func Count[N int | int64 | uint32 | uint64](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
