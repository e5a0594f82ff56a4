package client

import (
	"log/slog"
	"time"
)

// LogEvery returns a [Recorder] that logs how a device gets on. It logs at most one line a period
// while the device trains, and one whenever the run pauses, goes on or ends, or the device begins
// to wait or to catch up. It leaves out what it does not know, such as the loss before the first.
func LogEvery(logger *slog.Logger, period time.Duration) Recorder {
	return &logEvery{logger: logger, period: period, now: time.Now}
}

type logEvery struct {
	logger *slog.Logger
	period time.Duration
	now    func() time.Time

	next  time.Time // when a line of training is due
	stood string    // what the device did besides training, and why, as last told
	loss  float64
	knows bool // the loss
}

// Record implements [Recorder].
func (l *logEvery) Record(p Progress) error {
	if p.Contributed {
		l.loss, l.knows = p.Loss, true
	}
	stands := p.State.String() + p.Reason
	switch trains := p.State == Working || p.State == Waiting && p.Reason == ""; {
	case trains && p.Contributed && !l.now().Before(l.next):
		l.next = l.now().Add(l.period)
		l.stood = ""
		l.line("training", &p)
	case !trains && stands != l.stood:
		l.stood = stands
		l.line(p.State.String(), &p)
	}
	return nil
}

func (l *logEvery) line(what string, p *Progress) {
	list := []any{"record", p.N, "of", p.Last}
	if p.Round > 0 {
		list = append(list, "round", p.Round)
	}
	if l.knows {
		list = append(list, "loss", l.loss)
	}
	if p.Reason != "" {
		list = append(list, "why", p.Reason)
	}
	l.logger.Info(what, list...)
}
