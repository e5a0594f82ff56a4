package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// An event is a coordinator's event in JSON.
type event struct {
	Time         time.Time `json:"time"`
	Event        string    `json:"event"`
	N            uint64    `json:"n"`
	Round        uint64    `json:"round"`
	Attempt      uint32    `json:"attempt,omitempty"`
	Contributors uint32    `json:"contributors,omitempty"`
	Loss         *float32  `json:"loss,omitempty"`
	Seconds      float64   `json:"seconds,omitempty"`
	Metrics      []float32 `json:"metrics,omitempty"`
	Devices      uint32    `json:"devices,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	ID           string    `json:"id,omitempty"`
	Members      uint32    `json:"members,omitempty"`
	Record       string    `json:"record,omitempty"`
	Epoch        uint64    `json:"epoch,omitempty"`
	To           uint64    `json:"to,omitempty"`
	Fields       []string  `json:"fields,omitempty"`

	Digests *operate.Digests `json:"digests,omitempty"`
}

// newRecorder returns a recorder that prints all events as JSON, or logs some of the rounds.
func newRecorder(out io.Writer, logger *slog.Logger, asJSON bool) report.Recorder {
	if !asJSON {
		return report.RecorderFunc(func(e report.Event) error {
			if e.Kind == report.RoundDone && (e.Round < 10 || e.Round%logEvery == 0) {
				logger.Info("round", "round", e.Round, "record", e.N,
					"contributors", e.Contributors, "loss", e.Loss)
			}
			return nil
		})
	}
	enc := json.NewEncoder(out)
	return report.RecorderFunc(func(e report.Event) error {
		return enc.Encode(eventOf(e))
	})
}

func eventOf(e report.Event) event {
	out := event{Time: time.Now().UTC(), Event: e.Kind.String(), N: e.N, Round: e.Round}
	switch e.Kind {
	case report.RoundDone, report.PhaseDone:
		out.Attempt, out.Contributors = e.Attempt, e.Contributors
		out.Loss, out.Seconds = &e.Loss, e.Seconds
	case report.Evaluated:
		out.N, out.Metrics, out.Devices = e.Evaluation.N, e.Evaluation.Metrics, e.Evaluation.Count
	case report.RunPaused:
		out.Reason = e.Reason
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
	case report.Refused:
		out.Record, out.Reason = e.Record.String(), e.Reason
	case report.Joined:
		out.ID, out.Members = e.ID, e.Members
	}
	return out
}
