package transcript

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// A recording collects the lines of a device.
type recording struct {
	began time.Time
	note  func() // is called before what the device does; nil: nothing

	mu    sync.Mutex // guards what follows
	lines []line
	heard map[string]bool // subjects to which the device has subscribed
}

func (r *recording) add(kind string, fields ...string) {
	if r.note != nil && kind != state && kind != hear && kind != answer {
		r.note()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line{time.Since(r.began), kind, fields})
}

// A tap is a device's connection to a network. It records the frames that pass, and loses those
// that its faults name.
type tap struct {
	*bus.Memory
	*recording
	room int
	lose func(kind string, frame []byte) bool // nil: none
}

func (t *tap) loses(kind string, frame []byte) bool { return t.lose != nil && t.lose(kind, frame) }

func (t *tap) MaxPayload() int64 { return int64(t.room) }

func (t *tap) Publish(subject string, data []byte) error {
	t.add(say, subject, hex.EncodeToString(data))
	if t.loses(say, data) {
		return nil
	}
	return t.Memory.Publish(subject, data)
}

func (t *tap) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	t.mu.Lock()
	again := t.heard[subject]
	if t.heard == nil {
		t.heard = map[string]bool{}
	}
	t.heard[subject] = true
	t.mu.Unlock()
	if again { // only to check that the broker permits it
		return t.Memory.Subscribe(subject, handle)
	}
	t.add(listen, subject)
	return t.Memory.Subscribe(subject, func(m bus.Message) {
		if !t.loses(hear, m.Data) {
			t.add(hear, m.Subject, hex.EncodeToString(m.Data))
			handle(m)
		}
	})
}

func (t *tap) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	t.add(ask, subject, hex.EncodeToString(data))
	if t.loses(ask, data) {
		<-ctx.Done()
		t.add(silence)
		return nil, ctx.Err()
	}
	b, err := t.Memory.Request(ctx, subject, data)
	switch {
	case err == nil:
		t.add(answer, hex.EncodeToString(b))
	case errors.Is(err, bus.ErrNoResponders):
		t.add(nobody)
	default:
		t.add(silence)
	}
	return b, err
}

// A model is the app of a device: a loss with a minimum of the device's own, and one metric, the
// distance from it.
type model struct {
	*recording
	dim, samples, device int
	took                 time.Duration                         // that a loss takes
	fails                func(n uint64) bool                   // whether it fails at record n
	bends                func(n uint64, value float64) float64 // what it gives in place of a value
}

var errLoss = errors.New("no loss here")

func (m *model) Dim() int     { return m.dim }
func (m *model) Samples() int { return m.samples }

func (m *model) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	sum := 1.0
	for i, v := range x {
		e := float64(v) - 1 - 0.125*float64((i+m.device)%5)
		sum += float64(i+1) * e * e
	}
	sum += float64(b.Seed%16) / 256 // the minibatch's share
	if m.bends != nil {
		sum = m.bends(b.N, sum)
	}
	value := hexFloat(sum)
	if m.fails != nil && m.fails(b.N) {
		value = fails
	}
	if m.recording != nil {
		m.add(loss, append(lossFields(x, b), value)...)
	}
	select {
	case <-time.After(m.took):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if value == fails {
		return 0, errLoss
	}
	return sum, nil
}

func (m *model) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	sum := 0.0
	for i, v := range x {
		e := float64(v) - 1 - 0.125*float64((i+m.device)%5)
		sum += e * e
	}
	values := []float64{math.Sqrt(sum)}
	if m.recording != nil {
		m.add(measure, point(x), strconv.Itoa(m.samples), hexFloat(values[0]))
	}
	return values, m.samples, nil
}

// fails is the value of a loss that gives an error.
const fails = "fails"

func lossFields(x []float32, b objective.Batch) []string {
	return []string{strconv.FormatUint(b.N, 10), strconv.Itoa(b.Step), strconv.Itoa(b.Size),
		fmt.Sprintf("%016x", b.Seed), point(x)}
}

// point is a vector as hex digits: float32 numbers, little-endian.
func point(x []float32) string { return hex.EncodeToString(wire.AppendScalars(nil, x...)) }

// hexFloat is the exact text of a number.
func hexFloat(v float64) string { return strings.ToLower(strconv.FormatFloat(v, 'x', -1, 64)) }
