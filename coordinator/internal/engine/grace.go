package engine

// leastGrace is the least time that doubtful devices get after the quorum, in milliseconds. A round
// with a quorum waits for reliable members at least leastQuorums times as long as the quorum took,
// and at least 1/leastPart of the deadline.
const leastGrace, leastQuorums, leastPart = 25, 3, 8

// After the quorum, a round waits for doubtful members half as long again as the quorum took. For a
// reliable member, the round waits some times as long as the member usually takes. So a silent
// member delays each round by a short wait, or by part of a deadline, but not by a whole deadline.

// grants begins the short wait for the members that have not answered, once there is a quorum.
func (c *Core) grants() {
	if r := &c.round; r.grace == 0 && c.quorum().Enough() {
		r.quorate = c.now - c.cohort.Since
		c.lookAgain()
	}
}

// lookAgain sets the time when the attempt decides again for which devices it waits.
func (c *Core) lookAgain() {
	c.round.grace = c.now + max((c.now-c.cohort.Since)/2, leastGrace)
}

func (r *round) graceIsOver(now uint64) bool { return r.grace > 0 && now >= r.grace }

// ends returns the time of the next decision about the attempt.
func (r *round) ends() uint64 {
	if r.grace > 0 {
		return min(r.grace, r.closes)
	}
	return r.closes
}

// goesOn says whether an attempt whose short wait is over still waits for a reliable member that is
// not overdue. If so, the attempt decides again later.
func (c *Core) goesOn() bool {
	if c.now >= c.round.closes {
		return false
	}
	if least, unheard := c.patience(); !c.cohort.Relied(c.now, least, unheard) {
		return false
	}
	c.lookAgain()
	return true
}

// patience returns for how long an attempt with a quorum waits at least for a reliable member, and
// for how long it waits for a member that this coordinator has not heard. Vectors and the steps of
// secure aggregation have until the deadline, because they take longer than an answer with scalars.
func (c *Core) patience() (least, unheard uint64) {
	unheard = max(leastQuorums*c.round.quorate, uint64(c.Plan.Deadline)/leastPart)
	if c.vectors != nil || c.stepping() {
		return forever, unheard
	}
	return unheard, unheard
}
