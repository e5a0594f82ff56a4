package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
)

// asFlag returns the error of an option as that of the flag with its name. Others stay as they are.
func asFlag(err error) error {
	if fault := (*fleet.OptionError)(nil); errors.As(err, &fault) {
		return cli.Usage(fmt.Errorf("--%s %v: %s", strings.ToLower(fault.Option), fault.Value,
			fault.Remedy))
	}
	return err
}

// follow returns what shows each trial on the bar, and tells it to a loss program that wants to
// know. If the program wants no more trials, end gets [fleet.ErrStop].
func (f *tuneFlags) follow(ctx context.Context, end context.CancelCauseFunc, bar *terminal.Bar,
	budget uint64) func(tune.Trial) {
	spent, tell := uint64(0), f.Follower()
	return func(trial tune.Trial) {
		spent += trial.Queries
		bar.Show(spent, trial.Stage)
		if tell == nil {
			return
		}
		line, err := json.Marshal(struct {
			Event  string `json:"event"`
			Spent  uint64 `json:"spent"` // loss evaluations so far
			Budget uint64 `json:"budget"`
			TrialLine
		}{"trial", spent, budget, lineOfTrial(trial)})
		stop := false
		if err == nil {
			stop, err = tell(ctx, string(line))
		}
		if err == nil && stop {
			err = fleet.ErrStop
		}
		if err != nil {
			end(err)
		}
	}
}
