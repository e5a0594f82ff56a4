package follow

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// held says what the follower holds the run's plans to.
type held struct {
	check  func(*plan.Plan) error // what the app needs of a plan; nil: the follower holds nothing
	agreed bool
}

// HoldSums makes the follower refuse another log of this run that would end what its device relies
// on: secure=sum and, if agreed, secure_lists=agreed. No change of a plan can set these fields, so
// a coordinator would have to replace the log. A passive replica contributes nothing, and follows
// any log.
func (f *Follower) HoldSums(agreed bool) {
	h := &f.held
	if h.agreed = h.agreed || agreed; h.check != nil || f.cfg.Witness != nil {
		return
	}
	h.check = f.cfg.Replica.Check
	f.cfg.Replica.Check = func(p *plan.Plan) error {
		if err := h.allows(p); err != nil {
			return err
		}
		return h.check(p)
	}
	if f.replica.N() == 0 {
		f.replace(f.blank())
	}
}

// allows returns an error if a plan lacks secure=sum or, if agreed, secure_lists=agreed.
func (h *held) allows(p *plan.Plan) error {
	const remedy = "this device was in a run of this name with %s, and sends a coordinator no more " +
		"than that: give the new run another name, or this device an empty store"
	switch {
	case !p.Summed():
		return &plan.Error{Field: "secure", Value: "none", Remedy: fmt.Sprintf(remedy, "secure=sum")}
	case h.agreed && p.SecureLists == 0:
		return &plan.Error{Field: "secure_lists", Value: "believed",
			Remedy: fmt.Sprintf(remedy, "secure_lists=agreed")}
	}
	return nil
}
