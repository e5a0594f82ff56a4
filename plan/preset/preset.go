// Package preset makes plans by the name of a method: a paper's algorithm with
// its defaults, and notes on where they come from.
//
// It is for whoever writes a plan. A device receives its plan ready made and
// does not link this package.
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
	Notes  string // where the defaults come from, the traps, and how it does with its own step
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

// all returns the presets as they are written, without the results of their trials.
func all() []Info {
	return slices.Concat(sharedPresets, relayPresets, adaptivePresets,
		subspacePresets, correctedPresets, densePresets, beyondPresets)
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

// New returns a plan of the named method for a run over dim parameters, with a
// fresh random run key, and with the bounds of [Guard] on what one device can do.
// Every other field can still be changed before the run starts; after that, [Fit]
// adapts how devices of zofl share directions. The plan asks 10 devices a round,
// closes a round at 10 contributors or after 30 seconds, and needs at least 5; mezo
// has one device. [Few] adapts it to fewer members. An unknown name is a
// [*plan.Error].
//
// For DPClip, Secure or transport=dense, which exclude bounds, begin with [Unbound] and call
// Guard after your own fields.
//
// Only zofl and zofl-shared find their step. Others have one that was chosen for other models, and
// may not train yours: [Warnings] says so.
func New(name, run string, dim uint64) (*plan.Plan, error) {
	p, err := Unbound(name, run, dim)
	if err != nil {
		return nil, err
	}
	Guard(p)
	return p, nil
}

// Unbound is [New] without bounds: the method as its paper has it. With Bound 0 one device that
// lies can spoil a run, so it is for devices that you trust, and for comparing methods.
func Unbound(name, run string, dim uint64) (*plan.Plan, error) {
	return newFrom(all(), name, run, dim)
}

// UnboundDecomflAdam is [Unbound] of the preset decomfl-adam. A program that asks for no other does
// not link their notes.
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
