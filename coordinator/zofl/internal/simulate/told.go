package simulate

import (
	"context"
	"encoding/json"

	"github.com/zofl/zofl/fleet"
)

// Told is a [Sink] that tells somebody each line of JSON. If the answer to a round is to stop,
// that run ends.
type Told struct {
	tell func(line any) (stop bool, err error)
}

// NewTold returns a Told that calls tell.
func NewTold(ctx context.Context,
	tell func(ctx context.Context, line string) (stop bool, err error)) *Told {
	return &Told{func(line any) (bool, error) {
		b, err := json.Marshal(line)
		if err != nil {
			return false, err
		}
		return tell(ctx, string(b))
	}}
}

// Begin implements [Sink].
func (t *Told) Begin(r *Run) error {
	_, err := t.tell(begun(r))
	return err
}

// Round implements [Sink].
func (t *Told) Round(r *Run, row Row) error {
	stop, err := t.tell(roundLine(r, row))
	if err == nil && stop {
		return fleet.ErrStop
	}
	return err
}

// End implements [Sink]. Whoever is gone by then is not told.
func (t *Told) End(r *Run) error {
	_, _ = t.tell(lineOf(r))
	return nil
}
