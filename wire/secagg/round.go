package secagg

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Limits of a round.
const (
	// MostMembers is the largest number of members of a round.
	MostMembers = 1 << 20
	// MostWords is the longest vector of a device.
	MostWords = 1 << 24
	// MostContext is the longest name of a round, in bytes.
	MostContext = 1 << 10
)

// Steps of a round, and the states that follow them.
const (
	StepKeys Step = iota
	StepShares
	StepMask
	StepUnmask
	// StepDone: the server has the sum.
	StepDone
	// StepAgree is between StepMask and StepUnmask, in rounds with Agree.
	StepAgree
)

// A Step is one exchange of bytes with each device.
type Step uint8

// String returns the step's name.
func (s Step) String() string {
	names := [...]string{"keys", "shares", "mask", "unmask", "done", "agree"}
	if int(s) < len(names) {
		return names[s]
	}
	return "none"
}

// A Round names the members of a sum and its parameters. All devices and the server know it before
// the first step, and every key depends on all of it. So devices that were given different rounds
// cannot read each other's messages.
type Round struct {
	// Context names the round: the run, the record, the attempt and the hash of the log so far. No
	// two rounds of a run have the same. At most MostContext bytes.
	Context []byte
	// Members are the slots of the devices that the round asks, ascending. 2 to MostMembers.
	Members []uint32
	// Words is the length of a device's vector. 1 to MostWords.
	Words int
	// Threshold is how many members of a neighborhood, its center included, must answer to the end.
	// The threshold is more than half of the members of a neighborhood, and at most all. 0 means the
	// threshold of [Graph].
	Threshold int
	// Agree: before they help to unmask, devices compare the lists that the server gave them. Agree
	// needs a secret that the devices share, and a round in which all devices are neighbors.
	Agree bool
}

// A setting is a [Round] that check has accepted.
type setting struct {
	id                [32]byte
	members           []uint32
	words             int
	degree, threshold int
	agree             bool
}

// check returns the setting of a round.
func (r Round) check() (*setting, error) {
	n := len(r.Members)
	switch {
	case len(r.Context) == 0 || len(r.Context) > MostContext:
		return nil, because(ErrRound, "a context of %d bytes, want 1 to %d", len(r.Context),
			MostContext)
	case n < 2 || n > MostMembers:
		return nil, because(ErrRound, "%d members, want 2 to %d", n, MostMembers)
	case r.Words < 1 || r.Words > MostWords:
		return nil, because(ErrRound, "%d words, want 1 to %d", r.Words, MostWords)
	}
	for i, slot := range r.Members[1:] {
		if slot <= r.Members[i] {
			return nil, because(ErrRound, "member %d after %d: sort the slots", slot, r.Members[i])
		}
	}
	s := &setting{members: slices.Clone(r.Members), words: r.Words, agree: r.Agree}
	s.degree, s.threshold = Graph(n)
	if r.Agree && s.degree+1 < n {
		return nil, because(ErrRound, "%d members that agree on lists, want neighbors only", n)
	}
	if r.Threshold != 0 {
		s.threshold = r.Threshold
	}
	if 2*s.threshold <= s.degree+1 || s.threshold > s.degree+1 {
		return nil, because(ErrRound, "threshold %d in neighborhoods of %d, want more than half",
			s.threshold, s.degree+1)
	}
	s.id = r.hash(s.threshold)
	return s, nil
}

// hash returns the SHA-256 hash of everything that the members must agree on.
func (r Round) hash(threshold int) [32]byte {
	b := make([]byte, 0, len(label)+17+len(r.Context)+4*len(r.Members))
	b = append(b, label...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Context)))
	b = append(b, r.Context...)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Words))
	b = binary.LittleEndian.AppendUint32(b, uint32(threshold))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Members)))
	for _, slot := range r.Members {
		b = binary.LittleEndian.AppendUint32(b, slot)
	}
	if r.Agree {
		b = append(b, 1)
	}
	return sha256.Sum256(b)
}
