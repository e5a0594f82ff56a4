// Package secagg is the device's side of secure aggregation, for plans with secure=sum. The package
// takes the steps of package wire/secagg with the coordinator. The package does not know how a
// device computes scalars.
package secagg

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// DeclineSpent is the reason why a device declines if it helped to unmask the record before: see
// [secagg.DeclineSpent].
const DeclineSpent = secagg.DeclineSpent

// AttemptOf returns the attempt at so many numbers that an announcement begins, on a replica with a
// tip.
func AttemptOf(p *plan.Plan, a *wire.Announcement, tip wire.Tip, numbers int) secagg.Attempt {
	return secagg.Of(p.Run, a, tip, numbers)
}

// UnmaskTime is the last part of an attempt's deadline. In this time, devices unmask the sum of
// their contributions. With secure_lists=agreed, devices first agree on the lists that the
// coordinator gave them.
func UnmaskTime(p *plan.Plan) time.Duration {
	eighth := time.Duration(p.Deadline) * time.Millisecond / 8
	if p.SecureLists > 0 {
		return 2 * eighth
	}
	return eighth
}

// ErrOut says that the coordinator believed this device to be away when it announced the attempt.
var ErrOut = errors.New("not one of the devices whose scalars are summed")

// errFew says that too few devices take part in the attempt.
var errFew = errors.New("the devices whose scalars are summed are fewer than the quorum")

// errOver says that the coordinator continues without this device, or not at all.
var errOver = errors.New("the coordinator closed the attempt, or goes on without this device")

// errSuperseded says that another announcement came.
var errSuperseded = errors.New("another attempt was announced")

// patience is the least time between two requests, if the first of them failed at once.
const patience = 250 * time.Millisecond

// Config holds what a session needs.
type Config struct {
	Plan    *plan.Plan
	Attempt secagg.Attempt
	Slot    uint32
	// Secret is the secret that the devices of a private run share; nil if the run is not private.
	Secret []byte
	// Words encodes a contribution in a round of so many devices: [ScalarWords] or [ColumnWords].
	Words func(p *plan.Plan, devices int, values wire.Scalars, loss float32) ([]uint32, error)
	// Ask sends a request and returns the answer. The answer may take as long as other devices need
	// for the step. Ask has a time limit of its own, and the session calls Ask again until the context
	// ends. Two goroutines never call Ask at once.
	Ask func(ctx context.Context, frame []byte) ([]byte, error)
	// The session calls Unmasks before the device helps to unmask the sum of the attempt's record. An
	// error of Unmasks ends the session.
	Unmasks func() error
}

// A Session is one device's part in one attempt. The session's keys are only in memory: a device
// that restarts takes part in the next attempt.
type Session struct {
	cfg     Config
	ctx     context.Context
	cancel  context.CancelCauseFunc
	device  *secagg.Device
	devices int
	ready   chan struct{} // closed when given and err are set
	given   []byte        // what StepMask needs
	err     error
}

// Begin makes keys and begins the first two steps, because these steps need no scalars. The session
// ends with ctx. Call Close when done.
func Begin(ctx context.Context, cfg Config) (*Session, error) {
	round := cfg.Attempt.Round(cfg.Plan)
	if !slices.Contains(round.Members, cfg.Slot) {
		return nil, ErrOut
	}
	if devices := uint32(len(round.Members)); devices < cfg.Plan.Quorum {
		return nil, fmt.Errorf("%w: %d, quorum %d", errFew, devices, cfg.Plan.Quorum)
	}
	device, err := secagg.NewDevice(round, cfg.Slot, rand.Reader, cfg.Secret)
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, device: device, devices: len(round.Members), ready: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	go s.prepare()
	return s, nil
}

// Supersede ends the session because another announcement came. Any goroutine may call Supersede.
func (s *Session) Supersede() { s.cancel(errSuperseded) }

// Close ends the session, and waits until no goroutine uses the session any more.
func (s *Session) Close() {
	s.cancel(nil)
	<-s.ready
}

// prepare takes the steps that come before the scalars.
func (s *Session) prepare() {
	defer close(s.ready)
	peers, err := s.step(secagg.StepKeys, s.device.Keys(), nil)
	if err != nil {
		s.err = err
		return
	}
	shares, err := s.device.Shares(peers)
	if err != nil {
		s.err = s.refuse(secagg.StepShares, err)
		return
	}
	s.given, s.err = s.step(secagg.StepShares, shares, nil)
}

// Finish adds a contribution's values and loss to the round's sum. Finish returns when the
// coordinator has all that it needs from this device. sent says whether the device sent the masked
// values.
func (s *Session) Finish(values wire.Scalars, loss float32) (sent bool, err error) {
	<-s.ready
	if s.err != nil {
		return false, s.err
	}
	words, err := s.cfg.Words(s.cfg.Plan, s.devices, values, loss)
	if err != nil {
		return false, err
	}
	masks, err := s.device.Mask(s.given, words)
	if err != nil {
		return false, s.refuse(secagg.StepMask, err)
	}
	given, err := s.step(secagg.StepMask, masks, secagg.Refusal(s.device.Refused()))
	if err == nil && s.cfg.Plan.SecureLists > 0 {
		given, err = s.agree(given)
	}
	if err != nil {
		return true, err
	}
	unmask, err := s.device.Unmask(given)
	if err != nil {
		return true, err
	}
	if err := s.cfg.Unmasks(); err != nil {
		return true, err
	}
	_, err = s.step(secagg.StepUnmask, unmask, nil)
	if errors.Is(err, errOver) { // the sum is complete
		err = nil
	}
	return true, err
}

// agree takes the step in which devices agree on the lists that the coordinator gave them.
func (s *Session) agree(given []byte) ([]byte, error) {
	tag, err := s.device.Agree(given)
	if err != nil {
		return nil, s.refuse(secagg.StepAgree, err)
	}
	return s.step(secagg.StepAgree, tag, nil)
}

// refuse tells the coordinator that this device cannot answer a step, if err names the member that
// is to blame. So the step does not wait for this device, and the coordinator can find out which of
// the two lies. The device says it once, and does not wait for long: an older coordinator does not
// answer. refuse returns err.
func (s *Session) refuse(step secagg.Step, err error) error {
	if e := new(secagg.Error); errors.As(err, &e) {
		request := secagg.Request{N: s.cfg.Attempt.N, Nonce: s.cfg.Attempt.Nonce(), Step: step,
			Rest: secagg.Refusal([]uint32{e.Slot})}
		_, _ = s.cfg.Ask(s.ctx, request.Append(nil))
	}
	return err
}

// ScalarWords encodes scalars, in the plan's precision, and the loss.
func ScalarWords(p *plan.Plan, devices int, scalars wire.Scalars, loss float32) ([]uint32, error) {
	values := make([]float32, p.Precision.Len(scalars))
	p.Precision.Decode(values, scalars, 0)
	coding, ofLoss := secagg.Codings(p, devices)
	words := make([]uint32, 0, len(values)+1)
	for _, v := range values {
		word, _, err := coding.Word(v, 1)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	word, _, err := ofLoss.Word(loss, 1)
	return append(words, word), err
}

// ColumnWords returns words that package stats made, which need no encoding, and no loss.
func ColumnWords(_ *plan.Plan, _ int, values wire.Scalars, _ float32) ([]uint32, error) {
	words := make([]uint32, 0, len(values)/4+1)
	for ; len(values) >= 4; values = values[4:] {
		words = append(words, binary.LittleEndian.Uint32(values))
	}
	return append(words, 0), nil
}

// Refused returns the slots of the devices whose boxes did not open. Call it after Finish.
func (s *Session) Refused() []uint32 { return s.device.Refused() }

// step sends this device's part of a step until it gets an answer, and returns the bytes for the
// next step. rest is the rest of the request.
func (s *Session) step(step secagg.Step, body, rest []byte) ([]byte, error) {
	nonce := s.cfg.Attempt.Nonce()
	request := secagg.Request{N: s.cfg.Attempt.N, Nonce: nonce, Step: step, Body: body,
		Rest: rest}
	frame := request.Append(nil)
	for {
		began := time.Now()
		b, err := s.cfg.Ask(s.ctx, frame)
		switch {
		case s.ctx.Err() != nil:
			return nil, context.Cause(s.ctx)
		case retry.Final(err):
			return nil, err
		case err == nil:
			a, err := secagg.DecodeAnswer(b)
			if err != nil || a.N != s.cfg.Attempt.N || a.Nonce != nonce || a.Step != step {
				break // not an answer: ask again
			}
			if a.State == secagg.Over {
				return nil, fmt.Errorf("step %v: %w", step, errOver)
			}
			return a.Body, nil
		}
		if rest := patience - time.Since(began); rest > 0 {
			if err := retry.Sleep(s.ctx, rest); err != nil {
				return nil, err
			}
		}
	}
}
