package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
	"github.com/zofl/zofl/wire/valid"
)

// mannerFields say how devices share directions. Their values only go together.
var mannerFields = []string{"sharing", "transport", "groups", "regroup", "precision"}

// manners have the mannerFields that the preset zofl may have, its own first. A plan takes the
// first ones with which it can run: rounds of many devices have directions of their own; late work
// has scalars of 16 bits; medians and open rosters have directions that all devices share.
var manners = []wire.Plan{
	{Sharing: wire.GroupDirections, Transport: wire.Relay, Groups: grouping.Auto, Regroup: 10,
		Precision: wire.Int8},
	{Sharing: wire.PerClient, Transport: wire.Relay, Precision: wire.Int4},
	{Sharing: wire.PerClient, Transport: wire.Relay, Precision: wire.Half},
	{Sharing: wire.SharedDirections, Transport: wire.Mean, Precision: wire.Half},
}

// Fit lets a plan of the preset zofl run although fields of its author's exclude how the preset
// shares directions. set names the fields that the author has set. Of sharing, transport, groups,
// regroup and precision, those that are the preset's and not in set then change together: to
// directions of each device's own with scalars of 4 bits, or if these are excluded too, of 16 bits,
// or to directions that all devices share. Fit returns one sentence that says what changed, and
// why. Where nothing has to change, or no such change helps, it changes nothing and returns "":
// what a plan still lacks, package plancheck says.
//
// Call it after [New] and your own fields:
//
//	p, err := preset.New("zofl", "kitchen", 500)
//	...
//	p.Late = 2
//	note := preset.Fit(p)
func Fit(p *wire.Plan, set ...string) (note string) {
	fault := (*wire.PlanError)(nil)
	if p.Preset != "zofl" || !errors.As(valid.Plan(p), &fault) {
		return ""
	}
	free, given := mannerOf(p, set)
	cause := fmt.Sprintf("%s=%v", fault.Field, fault.Value)
	if slices.Contains(mannerFields, fault.Field) && len(given) > 0 {
		cause = strings.Join(given, " ") // not what it contradicts
	}
	for i := range manners {
		q := *p
		(&wire.Change{Fields: free, Values: manners[i]}).Apply(&q)
		if valid.Plan(&q) == nil {
			changed := changedManner(p, &q)
			*p = q
			return fmt.Sprintf("%s does not go with how the preset zofl shares directions, so this "+
				"plan has %s.", cause, strings.Join(changed, " "))
		}
	}
	return ""
}

// mannerOf returns the numbers of the mannerFields that p has from the preset, and the values of
// the others.
func mannerOf(p *wire.Plan, set []string) (free []uint64, given []string) {
	for _, f := range wire.Fields() {
		switch {
		case !slices.Contains(mannerFields, f.Name):
		case slices.Contains(set, f.Name) || textOf(f, p) != textOf(f, &manners[0]):
			given = append(given, f.Name+"="+textOf(f, p))
		default:
			free = append(free, f.Number)
		}
	}
	return free, given
}

// changedManner returns the mannerFields of q that are not those of p.
func changedManner(p, q *wire.Plan) (list []string) {
	for _, f := range wire.Fields() {
		if slices.Contains(mannerFields, f.Name) && textOf(f, p) != textOf(f, q) {
			list = append(list, f.Name+"="+textOf(f, q))
		}
	}
	return list
}

// textOf returns the value of one of the mannerFields, as in a plan file.
func textOf(f wire.Field, p *wire.Plan) string {
	switch v := f.At(p).(type) {
	case *uint8:
		return f.Choice(*v)
	default:
		return fmt.Sprint(*v.(*uint32))
	}
}
