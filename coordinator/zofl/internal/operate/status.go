package operate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire/survey"
)

// A Status is a coordinator's status in JSON.
type Status struct {
	Run string `json:"run"`
	// Version is the version of the coordinator's program; "" means that it is older than 0.1.0.
	Version string `json:"version,omitempty"`
	// Tags are words of the operator about the run, by `zofl serve --tag`.
	Tags []string `json:"tags,omitempty"`

	State  string `json:"state"` // waiting, open, paused, ended, deposed
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"` // who paused the run; "": it paused by itself
	// Unkept is the reason why a restart would undo a decision such as a pause.
	Unkept string `json:"unkept,omitempty"`
	// PauseAfter is the round after which the run will pause; 0: none.
	PauseAfter uint64 `json:"pause_after,omitempty"`
	End        string `json:"end,omitempty"`

	LogError     string `json:"log_error,omitempty"`
	CatchUpError string `json:"catch_up_error,omitempty"`
	// ObjectError is why a vector could not be read, with transport=dense.
	ObjectError string `json:"object_error,omitempty"`

	N      uint64 `json:"n"` // last record of the log
	Rounds uint64 `json:"rounds"`
	// Of is the round at which the plan ends the run; 0: at none.
	Of    uint64 `json:"of,omitempty"`
	Epoch uint64 `json:"epoch"`
	// Key is the public key with which the coordinator signs; "" if it does not sign.
	Key     string `json:"key,omitempty"`
	Members uint32 `json:"members"`

	Present uint32 `json:"present"` // members for which a round waits
	// Waits says for which devices round 1 waits, and which field starts the run without them.
	Waits string `json:"waits,omitempty"`

	Phase         uint8  `json:"phase,omitempty"`  // of the open round: 1 or 2 if rounds have two
	Survey        string `json:"survey,omitempty"` // as in report.Status
	Attempt       uint32 `json:"attempt"`
	Asked         uint32 `json:"asked"`
	Contributions uint32 `json:"contributions"`
	Declines      uint32 `json:"declines"`
	Uploads       uint32 `json:"uploads,omitempty"` // vectors of which a part has arrived

	// Participation says how evenly devices take part; nil before the first round that this
	// coordinator closes.
	Participation *report.Participation `json:"participation,omitempty"`

	Loss   float32 `json:"loss"`
	NoFall string  `json:"no_fall,omitempty"` // why the loss seems not to fall
	history.Signal
	// SurveyWarning says why the mu or the step that devices found may cost far more losses.
	SurveyWarning string `json:"survey_warning,omitempty"`

	Privacy    *dp.Budget  `json:"privacy,omitempty"`         // spent by a device in every round
	Planned    *dp.Budget  `json:"privacy_planned,omitempty"` // what all rounds will spend
	Evaluation *Evaluation `json:"evaluation,omitempty"`
	// Best is the record with the best model so far, of a plan with best.
	Best *report.Best `json:"best,omitempty"`
	// Reported are the last numbers of the apps' own, by name.
	Reported  map[string]history.Reported `json:"reported,omitempty"`
	Digests   []Digests                   `json:"digests,omitempty"`
	Reference *Reference                  `json:"reference,omitempty"`

	// Pending says that the coordinator accepted the command but has not completed it: the command
	// waits for the open round, or for the log.
	Pending bool `json:"pending,omitempty"`
	// Warning is, in the answer to a change, what the changed plan may lack.
	Warning string `json:"warning,omitempty"`

	Counters report.Counters `json:"counters"`
	Dropped  uint64          `json:"dropped"`
	// TurnedAway counts, by kind, the messages that the coordinator dropped without reading them.
	TurnedAway map[string]uint64 `json:"turned_away,omitempty"`
	// Offenders are the senders with the most refused or faulty messages.
	Offenders []Offender `json:"offenders,omitempty"`
	// Banned are the users who may not connect to the broker for a while.
	Banned []Ban `json:"banned,omitempty"`
	// SameID names members whose id two devices use.
	SameID []string `json:"same_id,omitempty"`
	// Unused names the members whose contributions come too late to count, and explains why.
	Unused map[string]string `json:"unused,omitempty"`
	// Suspects names the members whose contributions stand out, and says how, and the remedy.
	Suspects map[string]string `json:"suspects,omitempty"`
	// Disputed says that the contributions of too many members stand out to tell who is wrong.
	Disputed string `json:"disputed,omitempty"`
	// Unjudged says that nobody is a suspect yet, because the coordinator began in the middle of the
	// run and has seen too few contributions.
	Unjudged bool `json:"unjudged,omitempty"`
}

// An Offender is a sender of messages that the coordinator refused, or that no honest device sends.
// ID is the sender's id, or "X of _INBOX.Y" for a connection that sends requests with ids that have
// no slot. X is the last of these ids.
type Offender struct {
	ID      string `json:"id"`
	Refused uint64 `json:"refused,omitempty"`
	Faulty  uint64 `json:"faulty,omitempty"`
}

// A Ban says until when a user may not connect to the broker that the coordinator started.
type Ban struct {
	ID    string    `json:"id"`
	Until time.Time `json:"until"`
}

// An Evaluation is the metrics of the model after record N, averaged over devices.
type Evaluation struct {
	N       uint64    `json:"n"`
	Devices uint32    `json:"devices"`
	Metrics []float32 `json:"metrics"`
	Names   []string  `json:"names,omitempty"` // of the metrics
}

// Digests are the digests that devices report of their state after record N: the first 8 bytes of
// each digest in hexadecimal, and how many devices have it. All devices should have the same
// digest. Reference is the digest that the run trusts. Source says who reported that digest: a
// witness's id, or "plurality". Differing counts the devices with another digest, and Differ names
// the first 16.
type Digests struct {
	N         uint64            `json:"n"`
	Devices   map[string]uint32 `json:"devices"`
	Reference string            `json:"reference,omitempty"`
	Source    string            `json:"source,omitempty"`
	Differing uint32            `json:"differing,omitempty"`
	Differ    []string          `json:"differ,omitempty"`
}

// A Reference is the digest that the run takes as right for the state after record N.
type Reference struct {
	N      uint64 `json:"n"`
	Digest string `json:"digest"`
}

// StatusOf converts a status to the form for JSON.
func StatusOf(s report.Status) Status {
	out := Status{
		Run: s.Run, State: s.State.String(), Reason: s.Reason,
		By: s.By, Unkept: s.Unkept, PauseAfter: s.PauseAfter,
		LogError: s.LogError, CatchUpError: s.CatchUpError, ObjectError: s.ObjectError,
		N: s.N, Rounds: s.Rounds, Epoch: s.Epoch, Key: s.Key, Members: s.Members,
		Present: s.Present, Waits: s.Waits,
		Phase: s.Phase, Survey: s.Survey, Attempt: s.Attempt, Asked: s.Asked,
		Contributions: s.Contributions, Declines: s.Declines, Uploads: s.Uploads,
		Loss: s.Loss, Privacy: s.Privacy, Planned: s.Planned, Best: s.Best,
		Counters: s.Counters, Dropped: s.Counters.Dropped(),
		TurnedAway: s.TurnedAway, SameID: s.SameID, Unused: s.Unused,
		Suspects: s.Suspects, Disputed: s.Disputed, Unjudged: s.Unjudged,
	}
	for i := range s.Offenders {
		o := &s.Offenders[i]
		out.Offenders = append(out.Offenders, Offender{o.ID, o.Refused, o.Faulty})
	}
	if s.End != nil {
		out.End = s.End.Reason.String()
		out.Reason = s.End.Text
	}
	if s.Participation.Counted > 0 {
		out.Participation = &s.Participation
	}
	if s.Evaluation.Count > 0 {
		out.Evaluation = &Evaluation{N: s.Evaluation.N, Devices: s.Evaluation.Count,
			Metrics: s.Evaluation.Metrics}
	}
	for _, d := range s.Digests {
		out.Digests = append(out.Digests, DigestsOf(d))
	}
	if s.Reference != nil {
		out.Reference = &Reference{s.Reference.N, s.Reference.Digest.String()}
	}
	return out
}

// Warnings are lines about the members whose contributions stand out.
func (s *Status) Warnings() (lines []string) {
	for _, id := range slices.Sorted(maps.Keys(s.Suspects)) {
		lines = append(lines, fmt.Sprintf("suspect: %s: %s", id, s.Suspects[id]))
	}
	if s.Disputed != "" {
		lines = append(lines, s.Disputed)
	}
	return lines
}

// Asks says what the open round asks devices for instead of scalars, and how many have answered.
// Asks returns "" if the round asks for scalars.
func (s *Status) Asks() string {
	what := s.Survey
	switch s.Survey {
	case survey.Mu.String():
		what = "losses to find mu"
	case survey.FirstSigma:
		what = "losses to find the first sigma"
	case survey.Step.String():
		what = "losses to find the step"
	case survey.Sketch.String():
		what = "slopes to group devices by"
	}
	switch {
	case what == "":
		return ""
	case s.Asked == 0: // nobody knows, on an open roster
		return fmt.Sprintf("%s; answers so far: %d", what, s.Contributions)
	}
	return fmt.Sprintf("%s; answers so far: %d of %d", what, s.Contributions, s.Asked)
}

// DigestsOf converts reports of digests to the form for JSON.
func DigestsOf(d report.DigestReports) Digests {
	out := Digests{N: d.N, Devices: map[string]uint32{}, Source: d.Source,
		Differing: d.Differing, Differ: d.Differ}
	for _, v := range d.Values {
		out.Devices[v.Digest.String()] = v.Devices
	}
	if d.Source != "" {
		out.Reference = d.Reference.String()
	}
	return out
}
