package coordinator

import "github.com/zofl/zofl/wire"

// maxBudget is the largest AnnounceBudget that a plan can have, and frameHead
// more than an announcement takes without its records.
const (
	maxBudget = 32 << 10
	frameHead = 512
)

// recent holds the last records of a log: the last one, and those before it
// whose bytes fit an announcement.
type recent [][]byte

func (r *recent) add(record []byte) {
	*r = append(*r, record)
	size := 0
	for i := len(*r) - 2; i >= 0; i-- {
		if size += len((*r)[i]); size > maxBudget {
			*r = append(recent(nil), (*r)[i+1:]...)
			return
		}
	}
}

// within returns the last record and as many before it as fit budget bytes and
// a frame.
func (r recent) within(budget int) wire.Records {
	var records wire.Records
	if len(r) == 0 {
		return records
	}
	first := len(r) - 1
	budget = min(budget, wire.MaxFrame-frameHead-len(r[first]))
	for first > 0 {
		if budget -= len(r[first-1]) + binHead; budget < 0 {
			break
		}
		first--
	}
	for _, record := range r[first:] {
		records.Add(record)
	}
	return records
}

// binHead is what a record takes in a frame beyond its bytes.
const binHead = 3

// announce says what the run is doing, and when to say it again.
func (c *core) announce() {
	a := wire.Announcement{
		State:         wire.Open,
		N:             c.n + 1,
		Attempt:       c.round.attempt,
		Epoch:         c.epoch,
		Cohort:        c.round.cohort,
		Step:          c.plan.StepAt(c.rounds + 1),
		Perturbations: c.plan.PerturbationsAt(c.rounds + 1),
		Records:       c.recent.within(int(c.plan.AnnounceBudget)),
	}
	switch {
	case c.ended != nil:
		a.State = wire.Ended
	case c.paused:
		a.State, a.Reason = wire.Paused, c.reason
	default:
		a.Left = c.round.deadline - min(c.now, c.round.deadline)
	}
	c.askEvaluators(a.Cohort)
	c.announcing = true
	c.announceAt = c.now + uint64(c.plan.Reannounce)
	c.emit(output{kind: outAnnounce, frame: a.Append(nil)})
}

// announceClosed says that no round is open, and why.
func (c *core) announceClosed() {
	if !c.round.open {
		// Who evaluates is drawn among these; no attempt has this cohort.
		c.round.attempt, c.round.cohort = 0, c.cohort(0)
	}
	c.announce()
}
