package history

import "strings"

// Surveyed returns what the last survey of mu says of its differences, and the warnings of the last
// surveys of mu and of the step. A value that an operator changed later has none.
func (h *History) Surveyed() (s Signal, warning string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := map[string]*Mark{}
	for i := range h.marks {
		switch m := &h.marks[i]; m.Kind {
		case Surveyed:
			of[m.Survey] = m
		case Changed:
			for _, field := range m.Fields {
				delete(of, field)
			}
		}
	}
	if m := of["mu"]; m != nil {
		s = m.Signal
	}
	var warnings []string
	for _, kind := range []string{"mu", "step"} {
		if m := of[kind]; m != nil && m.Warning != "" {
			warnings = append(warnings, kind+": "+m.Warning)
		}
	}
	return s, strings.Join(warnings, "; ")
}

// NotFound says that devices have looked for the step in vain, and when they look again. NotFound
// returns "" if the run has a step, or if devices have not looked for it yet.
func (h *History) NotFound() (text string) {
	h.mu.Lock()
	run := h.run
	h.mu.Unlock()
	if run == nil {
		return ""
	}
	if p := run.Plan(); p.StepAuto == 0 || p.StepSize > 0 {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.marks {
		if m := &h.marks[i]; m.Kind == Surveyed && m.Survey == "step" {
			text = m.Text
		}
	}
	return text
}
