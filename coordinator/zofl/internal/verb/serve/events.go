package serve

import (
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/survey"
)

// An event is a coordinator's event in JSON.
type event struct {
	Time         time.Time `json:"time"`
	Event        string    `json:"event"`
	N            uint64    `json:"n"`
	Round        uint64    `json:"round"`
	Attempt      uint32    `json:"attempt,omitempty"`
	Contributors uint32    `json:"contributors,omitempty"`
	Late         uint32    `json:"late,omitempty"`
	Loss         *float32  `json:"loss,omitempty"`
	Seconds      float64   `json:"seconds,omitempty"`
	Step         float32   `json:"step,omitempty"`       // the plan's step
	RoundStep    float32   `json:"round_step,omitempty"` // what the round moved by
	Metrics      []float32 `json:"metrics,omitempty"`
	Names        []string  `json:"names,omitempty"` // of the metrics
	Devices      uint32    `json:"devices,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	ID           string    `json:"id,omitempty"`
	Members      uint32    `json:"members,omitempty"`
	Present      *uint32   `json:"present,omitempty"` // members that a round waits for
	Waits        string    `json:"waits,omitempty"`   // for which devices
	Record       string    `json:"record,omitempty"`
	Epoch        uint64    `json:"epoch,omitempty"`
	To           uint64    `json:"to,omitempty"`
	Fields       []string  `json:"fields,omitempty"`

	// Privacy is how much of each device's privacy the records up to N have spent.
	Privacy *dp.Budget        `json:"privacy,omitempty"`
	Survey  *survey.Result    `json:"survey,omitempty"`
	Digests *operate.Digests  `json:"digests,omitempty"`
	Values  deviceinfo.Values `json:"values,omitempty"`
	Best    *report.Best      `json:"best,omitempty"`
}

func eventOf(e report.Event) event {
	out := event{Time: time.Now().UTC(), Event: e.Kind.String(), N: e.N, Round: e.Round}
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		out.Attempt, out.Contributors, out.Late = e.Attempt, e.Contributors, e.Late
		out.Loss, out.Seconds, out.Privacy = &e.Loss, e.Seconds, e.Privacy
		out.Step, out.RoundStep = e.Step, e.RoundStep
	case report.Evaluated:
		out.N, out.Metrics, out.Devices = e.Evaluation.N, e.Evaluation.Metrics, e.Evaluation.Count
	case report.Improved:
		out.Best = e.Best
	case report.RunPaused:
		out.Reason = e.Reason
	case report.StillPaused:
		out.Reason, out.Seconds = e.Reason, e.Seconds
	case report.RunEnded:
		out.Reason = e.End.Reason.String()
	case report.DigestsDiffer, report.Referred:
		d := operate.DigestsOf(e.Digests)
		out.N, out.Digests = e.Digests.N, &d
	case report.Adopted:
		out.Record, out.Epoch = e.Record.String(), e.Epoch
	case report.RolledBack:
		out.To = e.To
	case report.Changed:
		out.Fields = e.Fields
	case report.Surveyed:
		out.Fields, out.Survey, out.Seconds = e.Fields, &e.Survey, e.Seconds
	case report.Refused:
		out.Reason, out.ID = e.Reason, e.ID
		if e.Record != 0 { // a retirement is no record
			out.Record = e.Record.String()
		}
	case report.Joined:
		out.ID, out.Members = e.ID, e.Members
	case report.Left, report.Lost, report.Returned, report.Retired:
		out.ID, out.Present = e.ID, &e.Members
	case report.SteppedOut:
		out.ID, out.Present, out.Reason, out.Seconds = e.ID, &e.Members, e.Reason, e.Seconds
	case report.SameID:
		out.ID = e.ID
	case report.Reported:
		out.ID, out.Values = e.ID, e.Values
	case report.JoinRefused, report.Unused, report.Suspected:
		out.ID, out.Reason = e.ID, e.Reason
	}
	return out
}
