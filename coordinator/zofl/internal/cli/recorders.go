package cli

import "github.com/zofl/zofl/coordinator/report"

// Recorders pass every event to each recorder in turn. After an error they pass the event to no
// further recorder.
type Recorders []report.Recorder

// Record implements [report.Recorder].
func (all Recorders) Record(e report.Event) error {
	for _, r := range all {
		if err := r.Record(e); err != nil {
			return err
		}
	}
	return nil
}
