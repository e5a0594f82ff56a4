package valid

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

var roundsRules = []rule{
	{own: checkQuorum},
	{own: checkMembers},
	{when: "close", needs: "async=off"},
	{when: "cohort control!=scaffold-1 control!=svrg",
		what: "only control=scaffold-1 and svrg keep a cohort"},
}

func checkQuorum(p *plan.Plan) error {
	if p.Quorum <= p.Target {
		return nil
	}
	return fault("quorum", p.Quorum,
		fmt.Sprintf("a round closes at its target of %d: choose at most that", p.Target))
}

func checkMembers(p *plan.Plan) error {
	if p.Members >= p.Quorum {
		return nil
	}
	return fault("members", p.Members, fmt.Sprintf("round 1 waits for so many devices and needs the "+
		"quorum of %d", p.Quorum))
}
