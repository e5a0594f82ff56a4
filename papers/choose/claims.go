package choose

import (
	"fmt"
	"math"
	"strings"
)

// claims checks what preset.Choose takes from the table.
func (x *trial) claims(list []task) {
	x.claim(list, "up to 20 parameters cma ends lower than zofl where the loss has no noise",
		"cma", "zofl", 1, func(t task) bool { return t.dim <= 20 && !t.noise })
	x.claim(list, "from 2 to 100 parameters, with noise, cma ends within twice of zofl, or lower",
		"cma", "zofl", 2, func(t task) bool { return t.noise })
	x.claim(list, "fzoos ends nowhere below half of what cma leaves", "cma", "fzoos",
		2, func(task) bool { return true })
}

// claim adds a claim that one preset ends below another, times a factor, on the tasks that count.
func (x *trial) claim(list []task, text, low, high string, times float64,
	counts func(task) bool) {
	holds, figures := true, []string(nil)
	if len(x.ends[low]) == 0 || len(x.ends[high]) == 0 {
		return
	}
	for i, t := range list {
		a, b := x.ends[low][i], x.ends[high][i]
		if !counts(t) || math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		holds = holds && a < times*b
		figures = append(figures, fmt.Sprintf("%v %s against %s", t, share(a), share(b)))
	}
	if len(figures) > 0 {
		x.Report.Claim(holds, text, "%s", strings.Join(figures, "; "))
	}
}
