package history

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
