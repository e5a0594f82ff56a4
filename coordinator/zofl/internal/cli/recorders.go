package cli

import "github.com/zofl/zofl/coordinator/report"

// Recorders get every event, one after the other, up to an error.
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
