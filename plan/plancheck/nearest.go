package plancheck

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// sized are the sections whose numbers limit each other. In these sections the value that cures a
// fault may be an unusual number.
var sized = []string{"probe", "groups", "rounds", "late"}

// nearest returns the tries that cure a fault by one other number, the nearest that cures it. With
// own, nearest tries only the field at fault, otherwise all fields.
func (t *try) nearest(fault *valid.Fault, own bool, kept func(name string) bool) (list []try) {
	if metric := metricOf(fault, &t.plan); metric != "" && !kept("metrics") && !t.has("metrics") {
		list = append(list, t.measured(metric))
	}
	for _, f := range plan.Fields() {
		if own && f.Name != fault.Field || !slices.Contains(sized, f.Section) ||
			kept(f.Name) || t.has(f.Name) || !fault.Reads(f.Name) {
			continue
		}
		q := try{plan: t.plan}
		cures := func() bool { return !fault.Refuses(&q.plan) && f.Check(&q.plan) == nil }
		var text string
		switch v := f.At(&q.plan).(type) {
		case *uint32:
			text = nearestWhole(v, cures)
		case *uint64:
			text = nearestWhole(v, cures)
		case *float32:
			text = nearestPower(v, cures)
		}
		if text != "" {
			q.after(t, setting{f.Name, text})
			list = append(list, q)
		}
	}
	return list
}

// metricOf returns the metric that a fault finds missing in a plan's metrics, or "".
func metricOf(fault *valid.Fault, p *plan.Plan) string {
	switch fault.Field {
	case "stop_metric":
		return p.StopMetric
	case "best":
		return p.Best
	}
	return ""
}

// measured returns t with a metric added to the plan's metrics.
func (t *try) measured(metric string) try {
	q := try{plan: t.plan}
	q.plan.Metrics = append(slices.Clip(t.plan.Metrics), metric)
	text, _ := json.Marshal(q.plan.Metrics) // names always encode
	q.after(t, setting{"metrics", string(text)})
	return q
}

// nearestWhole tries the whole numbers up to a distance of oneByOne one by one. Beyond oneByOne it
// finds the limit by bisection.
const oneByOne = 128

// nearestWhole sets v to the nearest number that cures the fault, and returns the number as text.
// "": there is none.
func nearestWhole[T uint32 | uint64](v *T, cures func() bool) string {
	from := *v
	at := func(n T) bool {
		*v = n
		return cures()
	}
	for k := T(1); k <= oneByOne; k++ {
		if k <= from && at(from-k) || at(from+k) {
			return strconv.FormatUint(uint64(*v), 10)
		}
	}
	good := from / 2
	for good > 0 && !at(good) {
		good /= 2
	}
	if good == 0 {
		return ""
	}
	for bad := 2 * good; bad-good > 1; {
		if middle := good + (bad-good)/2; at(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	*v = good
	return strconv.FormatUint(uint64(good), 10)
}

// nearestPower sets v to the nearest power of ten that cures the fault, and returns the power as
// text. "": there is none.
func nearestPower(v *float32, cures func() bool) string {
	from := float64(*v)
	if from <= 0 {
		return ""
	}
	above := int(math.Floor(math.Log10(from))) + 1
	for k := range tenfolds {
		for _, power := range []int{above + k, above - 1 - k} {
			text := strconv.FormatFloat(math.Pow10(power), 'g', -1, 32)
			if *v = float32(math.Pow10(power)); cures() {
				return text
			}
		}
	}
	return ""
}

// tenfolds is how many powers of ten nearestPower tries in each direction.
const tenfolds = 12
