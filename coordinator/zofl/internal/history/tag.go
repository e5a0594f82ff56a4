package history

import (
	"slices"
	"time"
)

// TagsOf returns the tags that marks give a run: those of the last [Tagged].
func TagsOf(marks []Mark) []string {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i].Kind == Tagged {
			return marks[i].Fields
		}
	}
	return nil
}

// Tag gives the run tags for people, in place of earlier ones. No record and no device knows them.
// Tag must follow [History.Lead].
func (h *History) Tag(tags []string) {
	h.mu.Lock()
	run, before := h.run, TagsOf(h.marks)
	h.mu.Unlock()
	if slices.Equal(tags, before) {
		return
	}
	s := run.Status()
	h.addMark(Mark{N: s.N, Round: s.Rounds, Time: inUTC(time.Now()), Kind: Tagged, Fields: tags})
}

// Tags returns the tags of the run.
func (h *History) Tags() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return TagsOf(h.marks)
}
