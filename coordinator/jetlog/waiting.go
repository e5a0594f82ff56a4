package jetlog

import (
	"errors"
	"log/slog"
	"time"
)

// A waiting tells people why a log waits for the lease: at once when another coordinator leads, and
// otherwise when the reason lasts.
type waiting struct {
	logger *slog.Logger
	reason string
	since  time.Time // when the log began to wait for that reason
	told   bool
}

// A reason other than another coordinator is told after tellAfter, and again after each tellAgain.
const (
	tellAfter = 5 * time.Second
	tellAgain = time.Minute
)

// wait notes that the log waits because of err.
func (w *waiting) wait(err error) {
	if reason := err.Error(); reason != w.reason {
		*w = waiting{logger: w.logger, reason: reason, since: time.Now()}
	}
	held := errors.Is(err, errHeld)
	switch waited := time.Since(w.since); {
	case held && !w.told:
		w.logger.Info("standing by", "reason", w.reason)
	case !held && (!w.told && waited >= tellAfter || waited >= tellAgain):
		w.logger.Warn("waiting for the lead of the run", "reason", w.reason)
		w.since = time.Now()
	default:
		return
	}
	w.told = true
}
