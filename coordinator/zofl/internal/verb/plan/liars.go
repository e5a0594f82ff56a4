package plan

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
)

// fewMixed is up to how many devices against warns that mixing costs much if their data differ. In
// "One liar of few, and honest fleets" of papers/RESULTS.md five lost 0.07 where nobody lied, and
// ten 0.03.
const fewMixed = 5

// against says what --liars sets, what that costs where nobody lies, and what it does not stop. The
// figures are those of "Neighbors, Krum and roots" in papers/RESULTS.md.
func (f *planFlags) against(p *plan.Plan) string {
	if f.liars == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of the %s of a round may lie. ", f.liars,
		terminal.Count(p.Sampled(p.Members), "device"))
	if len(p.Roots) > 0 {
		text += fmt.Sprintf("A device that does not agree with %s over %s no longer counts. "+
			"Where nobody lies, that cost less than 0.01 of the accuracy in our trial. A backdoor that "+
			"liars train with honest work beside it came through in part.", strings.Join(p.Roots, ", "),
			terminal.Count(p.Trust, "round"))
	} else {
		text += fmt.Sprintf("The coordinator mixes each contribution with its nearest, all but %d, and "+
			"cuts off as many at either end. Where nobody lies, that cost 0.01 of the accuracy in our "+
			"trial of 20 devices. It does not stop a backdoor where devices' data differ, and liars near "+
			"the honest devices cost up to 0.02 there: a root stops more, --set 'roots=[\"ID\"]'.",
			p.Liars)
		if p.Sampled(p.Members) <= fewMixed {
			text += " With so few devices whose data differ, it cost up to 0.07 where nobody lies, and " +
				"one liar near the others 0.1 or more: name a root there."
		}
	}
	if 5*uint64(f.liars) > uint64(p.Sampled(p.Members)) && (p.StepAuto > 0 || p.MuAuto > 0) {
		text += " The search for mu and step holds against a fifth of the devices: with more liars, " +
			"set both to numbers."
	}
	return text
}
