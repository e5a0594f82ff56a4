package byzantine

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A fleet has this many devices, of which the first ones may lie.
type fleet struct{ devices, liars int }

// usual is the fleet of an experiment whose caller does not choose another.
var usual = fleet{20, 4}

func fleetOf(e *lab.Env) (fleet, error) {
	f := usual
	if e.Devices > 0 {
		f = fleet{e.Devices, max(e.Devices/5, 1)}
	}
	if e.Liars > 0 {
		f.liars = e.Liars
	}
	if e.Devices < 0 || e.Liars < 0 || f.liars >= f.devices {
		return f, fmt.Errorf("--devices %d --liars %d: leave at least one honest device", f.devices,
			f.liars)
	}
	return f, nil
}

func (f fleet) String() string {
	return fmt.Sprintf("%d devices, of which %d lie", f.devices, f.liars)
}

func (f fleet) honest() int { return f.devices - f.liars }

// root returns the id of the root device, whose slot follows the slots of the devices.
func (f fleet) root() string { return fmt.Sprintf("c%d", f.devices) }

// rootSamples is the number of samples of the root device. The root device computes its loss over
// all its samples at each point.
const rootSamples = 300

// methods are the presets that the experiment trains. The first is the usual one.
var methods = []string{"decomfl", "zofl", "zofl-shared"}

// splits are the ways in which samples are dealt to devices. The usual ones are the first and the
// third.
var splits = []lab.Split{
	lab.Splits[0],
	{Name: "m", Title: "Dirichlet 0.3", Deal: func(labels []uint8, clients int,
		seed uint64) ([][]int, error) {
		return data.Dirichlet(labels, clients, 0.3, seed)
	}},
	lab.Splits[1],
	{Name: "r", Title: "IID but for a label", Deal: rare},
}

// rareLabel is the label that only the last device has in the split r.
const rareLabel = 9

// rare deals samples as IID does, but those of one label to the last device, which has no others.
func rare(labels []uint8, clients int, seed uint64) ([][]int, error) {
	var alone, rest []int
	for i, label := range labels {
		if label == rareLabel {
			alone = append(alone, i)
		} else {
			rest = append(rest, i)
		}
	}
	shares, err := data.IID(len(rest), max(clients-1, 1), seed)
	for _, share := range shares {
		for j, i := range share {
			share[j] = rest[i]
		}
	}
	return append(shares, alone), err
}

// A shield is a protection against liars: settings of a plan, and a root device if these settings
// name one.
type shield struct {
	name, settings string
	guarded        bool   // the plan has the bounds of preset.Guard, too
	mixing         mixing // before the coordinator
}

func (s shield) rooted() bool { return strings.Contains(s.settings, "roots=") }

// shieldsOf returns the protections that the experiment compares. Where devices may lie,
// docs/liars.md recommends "roots". If there is no root and the data of the devices are alike,
// docs/liars.md recommends "trust". "default" is what zofl plan sets. The last
// ones are those of CyBeR-0 (Egger et al. 2025).
func shieldsOf(f fleet) []shield {
	trimmed := fmt.Sprintf("aggregator=trimmed-mean trim=%.4g", float64(f.liars)/float64(f.devices))
	return []shield{
		{name: "mean"},
		{name: "bound8", settings: "bound=8"},
		{name: "bound", settings: "bound=1.5"},
		{name: "median", settings: "aggregator=median"},
		{name: "trust", settings: "bound=1.5 trust=100"},
		{name: "roots", settings: `bound=1.5 trust=200 roots=["` + f.root() + `"]`},
		{name: "alone"}, // the honest devices
		{name: "default", guarded: true},
		{name: "trimmed", settings: trimmed},
		{name: "krum", mixing: mixing{"Krum", krum}},
		{name: "krums", mixing: mixing{"Multi-Krum", krums}},
		{name: "nnm", settings: fmt.Sprintf("%s liars=%d bound=1.5", trimmed, f.liars)},
	}
}

// usualShields is how many of the shields run if the caller names none.
const usualShields = 7

// recommended is the shield that has to stop every lie.
const recommended = "roots"

// pickShields returns the shields of these names. A name may also be "NAME BASE FIELD=VALUE ...", a
// new shield: with the settings of the shield BASE, and more. Without a name pickShields returns
// the usual ones.
func pickShields(f fleet, asked []string) (list []shield, err error) {
	all := shieldsOf(f)
	if len(asked) == 0 {
		return all[:usualShields], nil
	}
	nameOf := func(s shield) string { return s.name }
	for _, text := range asked {
		words := strings.Fields(text)
		if len(words) == 0 {
			words = []string{""}
		}
		base := words[min(1, len(words)-1)]
		found, err := lab.Pick("arm", all, nameOf, []string{base}, nil)
		if err != nil {
			return nil, err
		}
		s := found[0]
		if s.name = words[0]; len(words) > 2 {
			s.settings = strings.Join(append(strings.Fields(s.settings), words[2:]...), " ")
			if _, err := planfile.SetAll(&plan.Plan{}, words[2:]); err != nil {
				return nil, fmt.Errorf("--arm %q: %w", text, err)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// title returns what the table says of a shield.
func (s shield) title(f fleet) string {
	switch {
	case s.name == "alone":
		return fmt.Sprintf("no liars: the %d honest devices", f.honest())
	case s.guarded:
		return strings.TrimSpace("the default " + s.settings)
	case s.mixing.title != "":
		return strings.TrimSpace(s.mixing.title + " " + s.settings)
	case s.settings == "":
		return "nothing"
	}
	return s.settings
}

// set applies a shield to a plan.
func (s shield) set(p *plan.Plan) error {
	changed, err := planfile.SetAll(p, strings.Fields(s.settings))
	if err != nil {
		return err
	}
	if s.guarded {
		preset.Guard(p, changed...)
	}
	preset.Fit(p, changed...)
	return nil
}
