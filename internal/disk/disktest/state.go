package disktest

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// settle decides which of the contents below n survive a power cut. pick makes each decision. The
// order of decisions does not depend on earlier decisions.
func settle(n *node, pick func(options int) int) {
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.file != nil {
			n.file.settle(pick)
			return
		}
		children := n.folder.children()
		n.folder.settle(pick)
		for _, child := range children {
			visit(child)
		}
	}
	visit(n)
}

// children returns all nodes that may have a name after a power cut.
func (f *folder) children() []*node {
	var all []*node
	for _, names := range []map[string]*node{f.durable, f.names} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, names[name])
		}
	}
	for _, r := range f.changes {
		all = append(all, r.node)
	}
	return all
}

// Limits of [Disk.States].
const (
	// Exhaustive is the largest number of combinations of decisions with which States returns all of
	// them.
	Exhaustive = 2048
	// Sampled is how many combinations States draws at random if there are more than Exhaustive.
	Sampled = 512
)

// States returns every state that a power cut now could leave, each once, as a separate
// disk without faults.
//
// If there are more than [Exhaustive] combinations of the decisions in the package's doc, States
// returns only these: everything kept, and everything lost; each of these two with one decision
// changed; and [Sampled] combinations drawn with a fixed seed.
func (d *Disk) States() iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		seen := map[[sha256.Size]byte]bool{}
		for decisions := range combinations(d.decisions()) {
			state := d.settled(decisions)
			sum := state.Fingerprint()
			if seen[sum] {
				continue
			}
			seen[sum] = true
			if !yield(state) {
				return
			}
		}
	}
}

// decisions returns the number of options of each decision.
func (d *Disk) decisions() []int {
	var options []int
	d.mu.Lock()
	defer d.mu.Unlock()
	settle(copier{}.node(d.root), func(n int) int {
		options = append(options, n)
		return 0
	})
	return options
}

// settled returns a copy of the disk in the state that decisions give.
func (d *Disk) settled(decisions []int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	state := New()
	state.root, state.trace, state.operations = copier{}.node(d.root), d.trace, d.operations
	state.note("power cut")
	next := 0
	settle(state.root, func(int) int {
		next++
		return decisions[next-1]
	})
	return state
}

// combinations yields all combinations of decisions with these numbers of options. A yielded slice
// is valid until the next one.
func combinations(options []int) iter.Seq[[]int] {
	product := 1
	for _, n := range options {
		if product *= n; product > Exhaustive {
			return selection(options)
		}
	}
	return func(yield func([]int) bool) {
		decisions := make([]int, len(options))
		for i := range product {
			for at, n := range options {
				decisions[at], i = i%n, i/n
			}
			if !yield(decisions) {
				return
			}
		}
	}
}

// selection enumerates the combinations that [Disk.States] promises if there are too many.
func selection(options []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		decisions := make([]int, len(options))
		for base := range 2 {
			for at, n := range options {
				for option := range n {
					fill(decisions, base)
					decisions[at] = option
					if !yield(decisions) {
						return
					}
				}
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range Sampled {
			for at, n := range options {
				decisions[at] = draw(r, n)
			}
			if !yield(decisions) {
				return
			}
		}
	}
}

func fill(decisions []int, v int) {
	for i := range decisions {
		decisions[i] = v
	}
}

// draw draws an option at random. If there are more than three options, as for the end of a file,
// draw keeps everything with probability 1/2.
func draw(r *rand.Rand, options int) int {
	if options > 3 && r.IntN(2) == 0 {
		return 0
	}
	return r.IntN(options)
}

// Crash cuts the power and restores it: d is then in one of the states of [Disk.States], without
// faults. With probability 1/4 Crash keeps everything, with probability 1/4 it loses everything
// that may be lost, and otherwise it draws each decision independently.
func (d *Disk) Crash(r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	mode := r.IntN(4)
	settle(d.root, func(options int) int {
		if mode < 2 {
			return mode
		}
		return draw(r, options)
	})
	d.note("power cut")
	d.restart()
}

// Kill ends the process that uses the disk. The bytes that the process wrote remain, but a power
// cut can still lose them. The locks, the open files and the faults end.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note("kill")
	d.restart()
}

func (d *Disk) restart() {
	d.life++
	d.locks = map[*node]bool{}
	d.faults = faults{}
}

// Fingerprint returns a hash of all names and all bytes as programs see them.
func (d *Disk) Fingerprint() [sha256.Size]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sha256.Sum256(appendTree(nil, d.root))
}

func appendTree(b []byte, n *node) []byte {
	if n.file != nil {
		b = binary.LittleEndian.AppendUint64(append(b, 'f'), uint64(len(n.file.data)))
		return append(b, n.file.data...)
	}
	b = binary.LittleEndian.AppendUint64(append(b, 'd'), uint64(len(n.folder.names)))
	for _, name := range slices.Sorted(maps.Keys(n.folder.names)) {
		b = append(append(b, name...), 0)
		b = appendTree(b, n.folder.names[name])
	}
	return b
}
