package presence

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// Count returns a number with a noun, such as "1 attempt" or "2 attempts".
func Count(n uint32, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Lacks says which devices a run without a quorum waits for. With secure=sum the quorum may only
// rise.
func (w *Crowd) Lacks(p *plan.Plan) string {
	hope := "it goes on when they are back"
	if w.Present() >= p.Quorum { // they are there, and some did not answer
		hope = "too few answered, it asks again"
	}
	text := fmt.Sprintf("%d of %s present, quorum %d: %s",
		w.Present(), Count(uint32(len(w.Members)), "member"), p.Quorum, hope)
	if n := w.Present(); n > 0 && n < p.Quorum && !p.Summed() {
		text += fmt.Sprintf("; `zofl change quorum=%d` goes on now", n)
	}
	if n := w.leftOut(); n > 0 {
		text += fmt.Sprintf("; sums leave out %s, see `zofl status`", Count(n, "member"))
	}
	if w.Present() == 0 {
		text += "; start them again, or end the run with `zofl stop`"
	}
	return text
}

// Awaits says how many devices round 1 still waits for.
func (r *Roster) Awaits(p *plan.Plan) string {
	n := r.Joined()
	text := fmt.Sprintf("%d of %d joined", n, r.Wanted(p))
	if n == 0 {
		return text
	}
	fields := fmt.Sprintf("members=%d", n)
	if int(p.Quorum) > n { // round 1 waits for a quorum at least
		if p.Summed() {
			return text + fmt.Sprintf("; with secure=sum it needs the quorum of %d", p.Quorum)
		}
		fields += fmt.Sprintf(" quorum=%d", n)
	}
	return text + fmt.Sprintf("; `zofl change %s` starts now", fields)
}
