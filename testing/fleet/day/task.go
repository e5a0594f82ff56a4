package day

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

const (
	side    = 7 // of an image, in pixels: digits of 28x28, averaged over squares of 4x4
	classes = 10

	// Dim is the number of parameters of the softmax classifier that the phones train.
	Dim = classes * (side*side + 1)

	samplesEach = 60   // training samples of a phone
	testSamples = 1000 // of the history's losses and accuracies
	labelAlpha  = 0.3  // concentration of a phone's labels, see data.Dirichlet
)

// A task is the training problem of the phones. The task evaluates the phones' losses while the
// phones wait for their time to pass. The goroutines that evaluate losses are outside the virtual
// clock.
type task struct {
	train, test *softmax.Classifier
	shares      [][]int // by phone: its samples
	queries     chan query
	losses      []chan float64 // by phone: the answer to its query
}

// A query is a loss evaluation for which a phone waits.
type query struct {
	params  []float32
	samples []int
	answer  chan<- float64
}

// newTask distributes the digits of a seed over the phones. With sorted, phones with lower numbers
// hold lower digits. Call newTask outside the bubble of the virtual clock, so that its channels are
// not in the bubble.
func newTask(seed uint64, devices int, sorted bool) (*task, error) {
	train := data.Digits(devices*samplesEach, 2*seed).Shrink(28 / side)
	test := data.Digits(testSamples, 2*seed+1).Shrink(28 / side)
	mean, std := train.Moments()
	shares, err := data.Dirichlet(train.Labels, devices, labelAlpha, seed)
	if err != nil {
		return nil, fmt.Errorf("day: %w", err)
	}
	if sorted {
		slices.SortStableFunc(shares, func(a, b []int) int {
			return cmp.Compare(labelSum(train, a), labelSum(train, b))
		})
	}
	t := &task{softmax.New(train, mean, std), softmax.New(test, mean, std), shares,
		make(chan query, devices), make([]chan float64, devices)}
	for i := range t.losses {
		t.losses[i] = make(chan float64, 1)
	}
	for range runtime.GOMAXPROCS(0) {
		go t.work()
	}
	return t, nil
}

// work answers queries until the task is closed.
func (t *task) work() {
	for q := range t.queries {
		q.answer <- t.train.Loss(q.params, q.samples)
	}
}

func (t *task) close() { close(t.queries) }

func labelSum(im *data.Images, share []int) (sum int) {
	for _, i := range share {
		sum += int(im.Labels[i])
	}
	return sum
}

// A phoneLoss is the objective and the policy of a phone. One goroutine at a time calls Loss.
type phoneLoss struct {
	task    *task
	phone   int
	batcher *data.Batcher
	share   int
	work    time.Duration // of an evaluation, before the random factor
	rng     *rand.Rand
	mayWork func() bool
}

var (
	_ objective.Flat    = (*phoneLoss)(nil)
	_ objective.Policy  = (*phoneLoss)(nil)
	_ objective.Sampler = (*phoneLoss)(nil)
)

// Dim implements [objective.Objective].
func (l *phoneLoss) Dim() int { return Dim }

// Samples implements [objective.Sampler].
func (l *phoneLoss) Samples() int { return l.share }

// MayWork implements [objective.Policy].
func (l *phoneLoss) MayWork(objective.Work) bool { return l.mayWork() }

// Loss implements [objective.Flat]. Loss takes the phone's time. When its context ends, Loss
// returns a moment later: the client waits for both the context and Loss, and the Go runtime would
// choose which of them comes first.
func (l *phoneLoss) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	t := time.NewTimer(vary(l.work, l.rng))
	defer t.Stop()
	answer := l.task.losses[l.phone]
	l.task.queries <- query{x, l.batcher.Pick(b.Size, b.Seed), answer}
	select {
	case <-ctx.Done():
		<-answer // x is the client's
		time.Sleep(time.Microsecond)
		return 0, context.Cause(ctx)
	case <-t.C:
		return <-answer, nil
	}
}
