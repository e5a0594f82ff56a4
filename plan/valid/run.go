package valid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

var runRules = []rule{
	{own: checkNames},
	{when: "run_key key_check", at: "key_check",
		what: "a run key is either public or a secret: set run_key= or key_check="},
	{when: "key_check", needs: "key_check=32",
		what: "give the 32 bytes that plan.KeyCheck computes from the app's secret"},
	{when: "key_scheme", needs: "key_check", what: "leave it out: the run key is no secret"},
	{when: "key_check=0", own: checkRunKey},
}

func checkNames(p *plan.Plan) error {
	if err := plan.CheckName(p.Run); err != nil {
		return fault("run", p.Run, nameRemedy(p.Run, err))
	}
	if p.Preset != "" && plan.CheckName(p.Preset) != nil {
		return fault("preset", p.Preset, "leave it as the preset set it, or empty")
	}
	return nil
}

// nameRemedy is the error of [plan.CheckName] without the name, because the plan's error names it
// already.
func nameRemedy(name string, err error) string {
	if len(name) == 0 || len(name) > plan.MaxName {
		return fmt.Sprintf("name the run with 1..%d characters", plan.MaxName)
	}
	return strings.TrimPrefix(err.Error(), strconv.Quote(name)+": ")
}

// checkRunKey refuses a run key of a length other than 32. Its error does not show the key, because
// the key may be a secret.
func checkRunKey(p *plan.Plan) error {
	if len(p.RunKey) != 32 {
		return fault("run_key", "",
			"give 32 bytes as 64 hexadecimal digits; a preset draws them")
	}
	return nil
}

// checkList checks a field whose value is a list of names, such as the names of metrics.
func checkList(field, thing string, names []string) error {
	if len(names) > plan.MaxMetrics {
		return fault(field, len(names), fmt.Sprintf("keep at most %d", plan.MaxMetrics))
	}
	for i, name := range names {
		if err := plan.CheckName(name); err != nil {
			return fault(field, name, "name the "+thing+": "+err.Error())
		}
		if slices.Contains(names[:i], name) {
			return fault(field, name, "name each "+thing+" once")
		}
	}
	return nil
}
