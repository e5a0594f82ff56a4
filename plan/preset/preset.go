// Package preset makes plans from the name of a training method. A preset has the algorithm of a
// paper with its defaults, and notes on the origin of these defaults.
//
// Programs that write plans use this package. A device receives a finished plan and does not link
// this package.
package preset

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// Info describes a preset for people.
type Info struct {
	Name   string
	Source string // paper, algorithm and equations
	Notes  string // origin of the defaults, traps, and how well the preset's step size works
	apply  func(*plan.Plan)
}

// List returns all presets, sorted by name.
func List() []Info {
	list := all()
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		list[i] = list[i].told()
	}
	return list
}

// all returns the presets without the results of their trials in their notes.
func all() []Info {
	return slices.Concat(sharedPresets, relayPresets, adaptivePresets,
		subspacePresets, correctedPresets, densePresets, evolutionPresets, beyondPresets)
}

// Names returns the names of all presets, sorted.
func Names() []string { return names(all()) }

func names(list []Info) (names []string) {
	for _, info := range list {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return names
}

// New returns a plan of the named method for a run over dim parameters, with a fresh random run
// key, and with the bounds of [Guard] on the influence of one device. You can change every other
// field before the run starts. Then [Fit] adapts how devices of zofl share directions. A round asks
// 10 devices, closes at 10 contributors or after 30 seconds, and needs at least 5 contributors;
// mezo has one device. [Few] adapts the plan to fewer members. An unknown name is a [*plan.Error].
//
// DPClip, Secure and transport=dense exclude bounds: for plans with these fields, begin with
// [Unbound], set your own fields, and then call Guard.
//
// Only with zofl and zofl-shared do devices find the step size. The step size of every other preset
// was chosen for other models, and may not train your model: [Warnings] says so.
func New(name, run string, dim uint64) (*plan.Plan, error) {
	p, err := Unbound(name, run, dim)
	if err != nil {
		return nil, err
	}
	Guard(p)
	return p, nil
}

// Unbound is [New] without bounds: the method as in its paper. Without bounds one lying device can
// ruin a run. So use Unbound with devices that you trust, or to compare methods.
func Unbound(name, run string, dim uint64) (*plan.Plan, error) {
	return newFrom(all(), name, run, dim)
}

// UnboundDecomflAdam is [Unbound] for the preset decomfl-adam. A program that uses only
// UnboundDecomflAdam does not link the notes of other presets.
func UnboundDecomflAdam(run string, dim uint64) (*plan.Plan, error) {
	return newFrom(beyondPresets, "decomfl-adam", run, dim)
}

func newFrom(list []Info, name, run string, dim uint64) (*plan.Plan, error) {
	at := slices.IndexFunc(list, func(info Info) bool { return info.Name == name })
	if at < 0 {
		return nil, &plan.Error{Field: "preset", Value: name,
			Remedy: "choose one of " + strings.Join(names(list), ", ")}
	}
	key := make(plan.Bytes, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("plan: run_key: %w", err)
	}
	p := &plan.Plan{
		Run: run, Preset: name, Scheme: prng.Scheme, RunKey: key, Dim: dim,
		AggregateFields: plan.AggregateFields{MaxWeight: plan.MaxWeight, MaxScalar: 1e6},
		RoundsFields: plan.RoundsFields{
			Members: 10, Target: 10, OverSample: 1, Quorum: 5, Deadline: 30_000,
			MaxAttempts:    plan.DefaultMaxAttempts,
			Reannounce:     uint32(plan.DefaultReannounce / time.Millisecond),
			AnnounceBudget: plan.DefaultAnnounceBudget, Shards: 1, DigestEvery: plan.DefaultDigestEvery,
		},
		StopFields: plan.StopFields{Diverge: 1},
	}
	list[at].apply(p)
	return p, nil
}
