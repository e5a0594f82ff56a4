package operate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A Desk carries out the commands of operators for one coordinator. Commands come over the broker,
// see [Serve], or from the dashboard. Any goroutine may call the methods of a Desk.
type Desk struct {
	c     *coordinator.Coordinator
	watch *Watch
}

// NewDesk returns the desk of a coordinator. The coordinator's Recorder must pass all events to
// watch.
func NewDesk(c *coordinator.Coordinator, watch *Watch) *Desk { return &Desk{c, watch} }

// Verbs are the commands that [Desk.Do] takes.
func Verbs() []string {
	return []string{VerbStatus, VerbPause, VerbResume, VerbStop, VerbRollback, VerbChange, VerbRetire}
}

// Do carries out a command, and returns the status after it. Pending in the status means that the
// coordinator accepted the command but did not complete it within some seconds. The error says why
// the coordinator did not carry out the command.
func (d *Desk) Do(verb string, r Request) (*Status, error) {
	do, ok := map[string]func(Request) (bool, error){
		VerbStatus:   func(Request) (bool, error) { return true, nil },
		VerbPause:    d.pause,
		VerbResume:   d.resume,
		VerbStop:     d.end,
		VerbRollback: d.rollback,
		VerbChange:   d.change,
		VerbRetire:   d.retire,
	}[verb]
	if !ok {
		return nil, fmt.Errorf("command %q: give one of %s", verb, strings.Join(Verbs(), ", "))
	}
	done, err := do(r)
	if err != nil {
		return nil, err
	}
	status := d.Status()
	status.Pending = !done
	if verb == VerbChange {
		status.Warning = d.warning(r)
	}
	return &status, nil
}

// Run returns the name of the run.
func (d *Desk) Run() string { return d.c.Status().Run }

// Status returns what the coordinator is doing now.
func (d *Desk) Status() Status {
	status := StatusOf(d.c.Status())
	status.Version = version.String()
	status.Tags = d.watch.Rounds().Tags()
	status.Reported = d.watch.Rounds().LastReported()
	status.NoFall = cmp.Or(d.watch.Rounds().NotFound(), d.watch.Rounds().NoFall())
	status.Signal, status.SurveyWarning = d.watch.Rounds().Surveyed()
	if d.watch.Banned != nil {
		status.Banned = d.watch.Banned(time.Now())
	}
	plan := d.c.Plan()
	status.Of = plan.Rounds
	if e := status.Evaluation; e != nil && len(e.Metrics) == len(plan.Metrics) {
		e.Names = plan.Metrics
	}
	return status
}

// Plan returns the plan as it is now.
func (d *Desk) Plan() plan.Plan { return d.c.Plan() }

// Devices returns the members in the order of their slots, and the time at which it read them.
func (d *Desk) Devices() (list []Device, at time.Time) {
	at = time.Now()
	return devicesOf(d.c.Devices(), at), at
}

// obeyWithin bounds the wait for the end of a command. After that time, Do returns the present
// status, marked as pending.
const obeyWithin = 3 * time.Second

// settled carries out a command. It then waits for an event of one of these kinds, or for an event
// after which the coordinator's status shows that the command is done. The status alone is not
// enough, because it changes before the event is recorded. An operator who then asks for the
// history expects the event there.
func (d *Desk) settled(do func(), shows func(report.State) bool,
	kinds ...report.EventKind) (bool, error) {
	x := d.watch.expect(func(e report.Event) bool {
		return slices.Contains(kinds, e.Kind) || shows(d.c.Status().State)
	})
	defer x.drop()
	already := shows(d.c.Status().State)
	do()
	if already { // there may be no event to wait for
		return true, nil
	}
	_, ok := x.wait(obeyWithin)
	return ok || shows(d.c.Status().State), nil
}

// stored calls do, which makes the coordinator store a record. stored waits for the event that the
// record is stored or refused.
func (d *Desk) stored(is func(report.Event) bool, do func() error) (bool, error) {
	x := d.watch.expect(is)
	defer x.drop()
	if err := do(); err != nil {
		return false, err
	}
	e, ok := x.wait(obeyWithin)
	if e.Kind == report.Refused {
		return false, errors.New(e.Reason)
	}
	return ok, nil
}

func (d *Desk) pause(r Request) (bool, error) {
	if d.c.Status().State == report.Ended {
		return false, errors.New("the run has ended")
	}
	r.Reason = cmp.Or(r.Reason, "paused by an operator")
	if r.After > d.c.Status().Rounds {
		d.c.PauseBy(r.By, r.After, r.Reason)
		return d.kept(func(s report.Status) bool {
			return s.PauseAfter == r.After ||
				s.Rounds >= r.After
		})
	}
	halted := func(st report.State) bool {
		return st == report.Paused || st == report.Ended
	}
	done, err := d.settled(func() { d.c.PauseBy(r.By, 0, r.Reason) }, halted)
	if !done || err != nil {
		return done, err
	}
	return d.kept(func(report.Status) bool { return true })
}

// kept waits until the log has stored a decision and the status shows the decision. A pause that a
// restart would undo does not count as done.
func (d *Desk) kept(shows func(report.Status) bool) (bool, error) {
	for end := time.Now().Add(obeyWithin); ; time.Sleep(keptEvery) {
		s := d.c.Status()
		switch {
		case s.Unkept == "" && (shows(s) || s.State == report.Ended):
			return true, nil
		case time.Now().Before(end):
		case s.Unkept != "":
			return false, fmt.Errorf("it is done, and the log does not keep it, so a restart would "+
				"undo it: %s: mend that, and give the command again", s.Unkept)
		default:
			return false, nil
		}
	}
}

// keptEvery is how often kept reads the status.
const keptEvery = 5 * time.Millisecond

func (d *Desk) resume(Request) (bool, error) {
	switch s := d.c.Status(); {
	case s.State == report.Ended:
		return false, errors.New("the run has ended")
	case s.State != report.Paused && s.Reason == "" && s.Unkept == "":
		return false, errors.New("the run is not paused")
	}
	goesOn := func(st report.State) bool { return st != report.Paused }
	done, err := d.settled(d.c.Resume, goesOn, report.RunResumed, report.RunEnded)
	if !done || err != nil {
		return done, err
	}
	return d.kept(func(report.Status) bool { return true })
}

func (d *Desk) end(r Request) (bool, error) {
	r.Reason = cmp.Or(r.Reason, "ended by an operator")
	ended := func(st report.State) bool { return st == report.Ended }
	return d.settled(func() { d.c.End(r.Reason) }, ended, report.RunEnded)
}

func (d *Desk) rollback(r Request) (bool, error) {
	rolledBack := func(e report.Event) bool {
		return e.Kind == report.RolledBack && e.To == r.To || refused(e, wire.KindRollback)
	}
	return d.stored(rolledBack, func() error { return d.c.Rollback(r.To) })
}

// ParseChange returns the change that a list of FIELD=VALUE makes. ParseChange does not check
// whether the values fit together. The coordinator does that, because it has the plan.
func ParseChange(fields []string) (*plan.Change, error) {
	change := &plan.Change{}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%q: write it as FIELD=VALUE", f)
		}
		if err := planfile.SetChange(change, name, value); err != nil {
			return nil, err
		}
	}
	return change, nil
}

func (d *Desk) change(r Request) (bool, error) {
	change, err := ParseChange(r.Fields)
	if err != nil {
		return false, err
	}
	now := d.c.Plan()
	planfile.Auto(change, &now)
	if err := d.wouldEnd(change); err != nil && !r.Ends {
		return false, err
	}
	changed := func(e report.Event) bool {
		return e.Kind == report.Changed || refused(e, wire.KindChange)
	}
	return d.stored(changed, func() error { return d.c.Change(change) })
}

// warning returns what the plan may lack after a change, or "".
func (d *Desk) warning(r Request) string {
	change, err := ParseChange(r.Fields)
	if err != nil {
		return ""
	}
	now := d.c.Plan()
	change.Apply(&now) // the plan does not have a pending change
	return plancheck.ChangedDecay(change, &now)
}

// errEnds means that a change would end the run, and that the request does not allow that.
var errEnds = errors.New("ends the run for good")

// WouldEnd says whether an error, possibly received from a coordinator, refuses a change that would
// end the run.
func WouldEnd(err error) bool {
	return err != nil && strings.Contains(err.Error(), errEnds.Error())
}

// wouldEnd returns an error if a change sets rounds to a number that the run has already done.
func (d *Desk) wouldEnd(change *plan.Change) error {
	before, done := d.c.Plan(), d.c.Status().Rounds
	after := before
	change.Apply(&after)
	if after.Rounds == before.Rounds || after.Rounds == 0 || after.Rounds > done {
		return nil
	}
	return fmt.Errorf("rounds=%d %w, as %d are done: `zofl change --yes rounds=%d` does so, and "+
		"`zofl stop` ends it with a reason", after.Rounds, errEnds, done, after.Rounds)
}

// retire retires a member. A retired member stays retired.
func (d *Desk) retire(r Request) (bool, error) {
	for _, member := range d.c.Devices() {
		if member.ID == r.ID && member.State == report.DeviceRetired {
			return true, nil
		}
	}
	retired := func(e report.Event) bool {
		return e.ID == r.ID && (e.Kind == report.Retired || e.Kind == report.Refused)
	}
	return d.stored(retired, func() error {
		if err := d.c.Retire(r.ID); err != nil {
			return fmt.Errorf("%w: `zofl devices` lists the members", err)
		}
		return nil
	})
}

func refused(e report.Event, kind wire.RecordKind) bool {
	return e.Kind == report.Refused && e.Record == kind
}
