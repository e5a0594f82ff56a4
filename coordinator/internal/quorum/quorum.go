// Package quorum decides whether a collection of answers may close: contributions to a round, with
// or without late ones, answers to a survey, or answers to a step of secure aggregation.
package quorum

// A Quorum holds how many answers a collection has and needs. The engine makes a new Quorum for
// each decision.
type Quorum struct {
	Have  uint32 // answers that count
	Least uint32 // which it needs to close well
	Most  uint32 // with which it waits for nobody
	Must  bool   // it still lacks an answer that it must have, such as a root's

	Waits  uint32 // for so many of those that it asks; 0 on an open roster, where nobody knows
	Open   bool   // the roster is open
	Short  bool   // the run lacked devices: it closes as soon as it can
	Paused bool   // nothing closes
	Step   bool   // others follow it, so it closes with its attempt
	All    bool   // whoever is asked has until the deadline
}

// Enough says whether the collection has the answers that it needs to succeed.
func (q Quorum) Enough() bool { return q.Have >= q.Least && !q.Must }

// Full says whether the collection needs no more answers.
func (q Quorum) Full() bool { return q.Enough() && (q.Short || q.Have >= q.Most) }

// Closes says whether the round closes, unless something pauses the round.
func (q Quorum) Closes() bool { return q.Full() && !q.Step }

// An Action is what follows from an answer.
type Action uint8

const (
	Collect Action = iota // more answers
	Grant                 // those who have not answered get some more time, because there are enough
	Settle                // nobody is waited for: close the attempt, or ask others
	Commit                // close the round
)

// Next returns the action after an answer.
func (q Quorum) Next() Action {
	switch {
	case q.Paused:
		return Collect
	case q.Closes():
		return Commit
	case q.Open:
		return Collect
	case q.Waits == 0, q.Full():
		return Settle
	case q.Enough() && !q.All:
		return Grant
	}
	return Collect
}
