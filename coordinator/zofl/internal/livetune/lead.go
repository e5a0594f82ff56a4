package livetune

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// A lead sends an operator's commands to the run's coordinator.
type lead struct {
	*Config
	told string // what the run waits for, as last passed to Waiting
}

// mark begins the reason of every pause that this package asks for.
const mark = "zofl tune"

var errDiverged = errors.New("the run diverged")

const (
	askWithin = 10 * time.Second // for an answer
	absence   = time.Minute      // of a coordinator that starts again
	// await asks for the status after intervals that grow from shortest to longest.
	shortest, longest = 20 * time.Millisecond, time.Second
)

func (l *lead) ask(ctx context.Context, verb string, r operate.Request) (*operate.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return operate.Ask(ctx, l.Conn, l.Run, verb, r)
}

func (l *lead) status(ctx context.Context) (*operate.Status, error) {
	return l.ask(ctx, operate.VerbStatus, operate.Request{})
}

func (l *lead) pauseAfter(ctx context.Context, round uint64) error {
	_, err := l.ask(ctx, operate.VerbPause, operate.Request{After: round, By: operate.Who(),
		Reason: fmt.Sprintf("%s: after round %d", mark, round)})
	return err
}

func (l *lead) resume(ctx context.Context) error {
	_, err := l.ask(ctx, operate.VerbResume, operate.Request{})
	return err
}

// change commits a change of the plan, and returns the number of its record.
func (l *lead) change(ctx context.Context, field string) (uint64, error) {
	return l.commit(ctx, operate.VerbChange, operate.Request{Fields: []string{field}})
}

// commit asks the coordinator for a record, and returns the number of the log's last record once
// the new record is stored. A paused run stores the record at once, or when its log works again.
func (l *lead) commit(ctx context.Context, verb string, r operate.Request) (uint64, error) {
	before, err := l.status(ctx)
	if err != nil {
		return 0, err
	}
	s, err := l.ask(ctx, verb, r)
	for wait := shortest; err == nil && s.N == before.N; wait = min(2*wait, longest) {
		if err = pause.For(ctx, wait); err == nil {
			s, err = l.status(ctx)
		}
	}
	if err != nil {
		return 0, err
	}
	return s.N, nil
}

// await waits until the run has paused after a round. With errDiverged, await returns the status
// too. If the coordinator restarts, await repeats the command to pause.
func (l *lead) await(ctx context.Context, after uint64) (*operate.Status, error) {
	epoch, missing := uint64(0), time.Now()
	for wait := shortest; ; wait = min(2*wait, longest) {
		s, err := l.status(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, operate.ErrRefused) &&
			time.Since(missing) < absence: // nobody answers, or there is no connection
		case err != nil:
			return nil, err
		default:
			if stands, err := l.stands(s); stands || err != nil {
				return s, err
			}
			missing = time.Now()
			if s.Epoch != epoch && epoch > 0 || s.State != "paused" && s.Rounds >= after {
				err = l.pauseAfter(ctx, after)
			}
			if epoch = s.Epoch; err != nil {
				return nil, err
			}
		}
		if err := pause.For(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// stands says whether the run has paused as this package asked. A run that waits for devices or for
// its log goes on by itself, so the tuning then waits.
func (l *lead) stands(s *operate.Status) (bool, error) {
	if s.Waits != l.told && l.Waiting != nil {
		l.Waiting(s.Waits)
	}
	l.told = s.Waits
	switch {
	case s.End != "":
		return false, fmt.Errorf("%w: it ended: %s", ErrUnfit, s.End)
	case s.State != "paused" || s.Waits != "" || s.LogError != "":
		return false, nil
	case strings.HasPrefix(s.Reason, "diverged"):
		return true, errDiverged
	case !strings.HasPrefix(s.Reason, mark):
		return false, fmt.Errorf("%w: it was paused: %s", ErrUnfit, s.Reason)
	}
	return true, nil
}

// planNow reads the run's plan from its log.
func (l *lead) planNow(ctx context.Context) (*plan.Plan, error) {
	at, err := source.Check(ctx, source.Live(l.Conn, l.Run, "zofl", nil), 0)
	if err != nil {
		return nil, err
	}
	return &at.Plan, nil
}

// fits returns an error if a run of the plan cannot be tuned.
func (l *lead) fits(p *plan.Plan, rounds uint64) error {
	name, step := tune.StepField(p)
	last := firstRound(p, rounds) + l.Rounds
	switch {
	case p.SendsVectors():
		return fmt.Errorf("%w: with transport=dense its log keeps the vectors of %d records, and "+
			"trials return to older ones: tune the plan before the run", ErrUnfit, p.DenseKeep)
	case !(step > 0) && p.StepAuto == 0:
		return fmt.Errorf("%w: its %s is %v", ErrUnfit, name, step)
	case p.Rounds > 0 && last >= p.Rounds:
		return fmt.Errorf("%w: it ends after round %d, and a trial lasts to round %d: give fewer "+
			"--rounds", ErrUnfit, p.Rounds, last)
	}
	return nil
}

// firstRound returns the round after which the trials begin.
func firstRound(p *plan.Plan, rounds uint64) uint64 {
	return max(rounds+1, survey.FirstMove(p))
}

// rollback returns the paused run to a state.
func (t *tuning) rollback(ctx context.Context, to place) error {
	if t.here == to {
		return nil
	}
	t.here = place{}
	if _, err := t.commit(ctx, operate.VerbRollback, operate.Request{To: to.n}); err != nil {
		return err
	}
	t.here = to
	return nil
}

// goOn resumes the run from the best state, even if ctx has ended. If another operator paused the
// run, the run stays paused. A pause at once replaces a pause that is due after a later round.
func (t *tuning) goOn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), absence)
	defer cancel()
	s, err := t.status(ctx)
	if err != nil || s.End != "" {
		return err
	}
	theirs := s.State == "paused" && s.Waits == "" && !strings.HasPrefix(s.Reason, mark) &&
		!strings.HasPrefix(s.Reason, "diverged")
	_, err = t.ask(ctx, operate.VerbPause, operate.Request{Reason: mark + ": stopped",
		By: operate.Who()})
	if err == nil {
		err = t.rollback(ctx, t.target())
	}
	if err != nil || theirs {
		return err
	}
	return t.resume(ctx)
}
