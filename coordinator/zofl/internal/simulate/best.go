package simulate

import "path/filepath"

// Groups returns runs with the same settings together, in the order of the settings.
func Groups(runs []*Run) (list [][]*Run) {
	for _, g := range grouped(runs, -1) {
		list = append(list, g.runs)
	}
	return list
}

// Best returns the run of the first seed with the best settings: the settings with the lowest mean
// loss at the end. Best returns nil if no settings reached the end with every seed.
func Best(runs []*Run) (best *Run) {
	lowest := 0.0
	for _, group := range Groups(runs) {
		var mean average
		for _, r := range group {
			if r.Outcome.Done() {
				mean.add(r.Outcome.Loss)
			}
		}
		if mean.n == len(group) && (best == nil || mean.value() < lowest) {
			best, lowest = group[0], mean.value()
		}
	}
	return best
}

// Label names the settings of a run. A run without settings of its own has the label "the plan".
func (r *Run) Label() string {
	if len(r.Settings) == 0 {
		return "the plan"
	}
	return grouped([]*Run{r}, -1)[0].name
}

// PlanName returns the file name of a run's plan in a directory of results.
func PlanName(dir string, r *Run) string { return filepath.Join(dir, plansDir, r.Name+".json") }
