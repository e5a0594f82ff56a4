package dashboard

import (
	"net/http"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/runlist"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

// runs answers with the names of the runs that this process leads, and with a list of all runs that
// the page can draw.
func (s *Server) runs(w http.ResponseWriter, r *http.Request) {
	names, list := []string{}, []runlist.Run{}
	for _, b := range s.all() {
		names = append(names, b.title())
		list = append(list, b.listed())
	}
	answers := map[string]bool{} // runs of other coordinators
	for _, other := range s.cfg.Others {
		for _, run := range other.List(r.Context()) {
			again := run.Live && slices.Contains(names, run.Name) || !run.Live && answers[run.Name]
			if !again {
				list = append(list, run)
			}
			answers[run.Name] = answers[run.Name] || run.Live && !again
		}
	}
	s.mu.Lock()
	leads := s.made > 0 // or will soon
	s.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"runs": names, "list": list, "leads": leads,
		"version": version.String()})
}

// listed describes the run for a list.
func (b *Board) listed() runlist.Run {
	status := b.leader().Status()
	r := runlist.Run{Key: b.title(), Name: b.title(), State: status.State, Led: true, Live: true}
	if status.End != "" {
		r.State += ": " + status.End
	}
	runlist.Describe(&r, b.history)
	return r
}

// A pastRun is what the page draws of a run that it does not follow.
type pastRun struct {
	Rounds      rounds       `json:"rounds,omitempty"`
	Evaluations []evaluation `json:"evaluations,omitempty"`
	Reported    []reported   `json:"reported,omitempty"`
	Marks       []mark       `json:"marks"`
}

// curves answers with the curves of a run of the list.
func (s *Server) curves(w http.ResponseWriter, r *http.Request) {
	points, marks, ok := s.past(r, r.URL.Query().Get("run"))
	if !ok {
		fail(w, http.StatusNotFound, "run: give the key of a run that GET /api/runs lists")
		return
	}
	c := pastRun{Marks: []mark{}, Reported: reportedOf(points)}
	c.Rounds, c.Evaluations = split(points)
	for i := range marks {
		c.Marks = append(c.Marks, marked(&marks[i]))
	}
	reply(w, http.StatusOK, c)
}

// past returns the history of a run of the list.
func (s *Server) past(r *http.Request, key string) ([]history.Point, []history.Mark, bool) {
	for _, b := range s.all() {
		if b.title() == key {
			points, marks := b.history.Snapshot(0)
			return points, marks, true
		}
	}
	for _, other := range s.cfg.Others {
		if points, marks, ok := other.History(r.Context(), key); ok {
			return points, marks, true
		}
	}
	return nil, nil, false
}
