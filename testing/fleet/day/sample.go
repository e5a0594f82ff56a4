package day

import (
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/internal/subjects"
)

// replies is the subject on which the coordinator hears replies.
var replies = subjects.AllReplies(runName)

// Record implements [report.Recorder].
func (w *world) Record(e report.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case report.RoundDone:
		w.hour.Rounds++
		w.hour.Attempts += uint64(e.Attempt) + 1
		w.hour.Counted += uint64(e.Contributors)
	case report.RunPaused:
		if w.pausedAt < 0 {
			w.pausedAt = w.net.now()
			w.history.Pauses++
		}
	case report.RunResumed:
		w.resumed()
	}
	return nil
}

// resumed adds the length of a pause to the total, if the run is paused. The caller holds mu.
func (w *world) resumed() {
	if w.pausedAt >= 0 {
		w.history.PausedFor += w.net.now() - w.pausedAt
		w.pausedAt = -1
	}
}

// sample completes an hour.
func (w *world) sample() {
	w.presence(0)
	counters := w.c.Status().Counters
	sent, received := w.traffic()
	loss, accuracy := w.log.evaluate(w.task.test)
	w.mu.Lock()
	defer w.mu.Unlock()
	h, now := w.hour, w.net.now()
	began := time.Duration(0)
	if n := len(w.history.Hours); n > 0 {
		began = w.history.Hours[n-1].End
	}
	h.End = now
	if now > began {
		h.Present = w.seconds / (now - began).Seconds()
	}
	h.count(&counters, &w.before)
	h.SentBytes, h.ReceivedBytes = sent-w.bytes[0], received-w.bytes[1]
	h.Loss, h.Accuracy = loss, accuracy
	w.history.Hours = append(w.history.Hours, h)
	w.history.Total.add(&h, now-began)
	w.hour, w.before, w.bytes, w.seconds = Hour{}, counters, [2]uint64{sent, received}, 0
}

// evaluate measures the model; before record 1 evaluate returns 0, 0.
func (l *log) evaluate(test *softmax.Classifier) (loss, accuracy float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.model.Params()
	if len(x) != Dim {
		return 0, 0
	}
	return softmax.Evaluate(test, x, 1)
}

// traffic returns the bytes that all phones have sent and received.
func (w *world) traffic() (sent, received uint64) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	for _, p := range w.phones {
		sent += p.station.sent
		received += p.station.received
	}
	return sent, received
}

// count sets the counts of the hour to what the coordinator counted since the last call.
func (h *Hour) count(now, before *report.Counters) {
	h.Contributions = now.Contributions - before.Contributions
	h.Declines = now.Declines - before.Declines
	h.Late = now.Late - before.Late
	h.Duplicates = now.Duplicate - before.Duplicate
	h.Joins = now.Joins - before.Joins
	h.CatchUps = now.CatchUps - before.CatchUps
}

// add adds an hour of the given length to a total.
func (h *Hour) add(o *Hour, length time.Duration) {
	if o.End > 0 {
		h.Present += (o.Present - h.Present) * float64(length) / float64(o.End)
	}
	h.End, h.Loss, h.Accuracy = o.End, o.Loss, o.Accuracy
	h.Rounds += o.Rounds
	h.Attempts += o.Attempts
	h.Contributions += o.Contributions
	h.Counted += o.Counted
	h.Declines += o.Declines
	h.Late += o.Late
	h.Duplicates += o.Duplicates
	h.Joins += o.Joins
	h.CatchUps += o.CatchUps
	h.SentBytes += o.SentBytes
	h.ReceivedBytes += o.ReceivedBytes
}
