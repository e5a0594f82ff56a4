package wire

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/prng"
)

// A PresetInfo is a method by name: a paper's algorithm with its defaults.
type PresetInfo struct {
	Name   string
	Source string // paper, algorithm and equations
	Notes  string // where defaults come from, and the traps
	apply  func(*Plan)
}

// presets are the methods, in no order that counts.
var presets = slices.Concat(sharedPresets, relayPresets, subspacePresets, correctedPresets, densePresets, beyondPresets)

// Presets lists the presets by name.
func Presets() []PresetInfo {
	return slices.SortedFunc(slices.Values(presets), func(a, b PresetInfo) int { return strings.Compare(a.Name, b.Name) })
}

// Preset returns a plan of a method for a run over dim parameters, with a
// fresh random run key; everything else can be changed before the run starts.
// It asks 10 devices a round, closes a round at 10 contributors or after 30
// seconds, and needs 5; mezo has one device.
func Preset(name, run string, dim uint64) (*Plan, error) {
	list := Presets()
	at := slices.IndexFunc(list, func(info PresetInfo) bool { return info.Name == name })
	if at < 0 {
		var names []string
		for _, info := range list {
			names = append(names, info.Name)
		}
		return nil, &PlanError{"preset", name, "choose one of " + strings.Join(names, ", ")}
	}
	key := make(Bytes, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("plan: run_key: %w", err)
	}
	p := &Plan{
		Run: run, Preset: name, Scheme: prng.Scheme, RunKey: key, Dim: dim,
		MaxWeight: MaxWeight, MaxScalar: 1e6,
		Members: 10, Target: 10, OverSample: 1, Quorum: 5,
		Deadline: 30_000, MaxAttempts: DefaultMaxAttempts,
		Reannounce:     uint32(DefaultReannounce / time.Millisecond),
		AnnounceBudget: DefaultAnnounceBudget, Shards: 1,
		DigestEvery: DefaultDigestEvery, Diverge: 1,
	}
	list[at].apply(p)
	return p, nil
}
