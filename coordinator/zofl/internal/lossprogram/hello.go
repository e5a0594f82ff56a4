package lossprogram

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

// version is the version of the protocol in docs/exec.md.
const version = "1"

// mostPoints bounds the points that a program may ask for in one request.
const mostPoints = 4096

// A hello is a program's description of itself.
type hello struct {
	dim, samples, points int
	columns              int
	evaluate, gradient   bool
	progress             bool // it wants to know what happens, and may end a run
	factors              bool // it takes factors of directions in place of points
}

// parseHello reads the answer to the first request. parseHello ignores unknown keys, so that the
// program may be newer than zofl.
func parseHello(line string) (hello, error) {
	h := hello{points: 1}
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "hello" {
		return h, fmt.Errorf("answered %q to hello %s: answer hello %s dim=D, and print all else to "+
			"standard error", clip(line), version, version)
	}
	if words[1] != version {
		return h, fmt.Errorf("speaks version %s of the protocol: speak version %s", clip(words[1]),
			version)
	}
	known := false
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		if err := h.set(key, value); err != nil {
			return h, err
		}
		known = known || key == "dim"
	}
	if !known {
		return h, fmt.Errorf("answered %q: say dim=D too, the number of parameters", clip(line))
	}
	return h, nil
}

func (h *hello) set(key, value string) error {
	numbers := map[string]struct {
		to          *int
		least, most int
	}{
		"dim": {&h.dim, 0, math.MaxInt32}, "samples": {&h.samples, 1, math.MaxInt32},
		"points":  {&h.points, 1, mostPoints},
		"columns": {&h.columns, 1, plan.MaxColumns},
	}
	if n, ok := numbers[key]; ok {
		v, err := strconv.Atoi(value)
		if err != nil || v < n.least || v > n.most {
			return fmt.Errorf("said %s=%s: give a number from %d to %d", key, clip(value), n.least,
				n.most)
		}
		*n.to = v
	}
	flags := map[string]*bool{"evaluate": &h.evaluate, "gradient": &h.gradient,
		"progress": &h.progress, "factors": &h.factors}
	if to, ok := flags[key]; ok {
		v, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("said %s=%s: give 0 or 1", key, clip(value))
		}
		*to = v
	}
	return nil
}

// clip shortens a program's output for messages.
func clip(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
