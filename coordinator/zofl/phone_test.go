package main

import (
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/client/mobile"
)

// A phoneBowl is the loss of a phone's app, and its consent.
type phoneBowl struct {
	refuses bool
	twice   bool // the loss
}

func (b phoneBowl) Loss(params []byte) (float64, error) {
	sum := 0.0
	for i := 0; i < len(params); i += 4 {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(params[i:])))
		sum += v * v
	}
	if b.twice {
		sum *= 2
	}
	return sum, nil
}

// Accept implements mobile.Consent.
func (b phoneBowl) Accept(p *mobile.Plan) error {
	if b.refuses || p.Dim() != kitchenDim {
		return errors.New("not on this phone")
	}
	return nil
}

// line enrolls a phone and returns its line.
func (k *enrolled) line(name string) string {
	k.t.Helper()
	out, err := zofl(k.t, "device", "add", name, "--auth", k.auth, "--qr")
	if err != nil {
		k.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func (k *enrolled) phone(line string, app phoneBowl) *mobile.Client {
	k.t.Helper()
	cfg := mobile.NewConfig()
	cfg.Dim, cfg.StateDir = kitchenDim, filepath.Join(k.t.TempDir(), "phone")
	cfg.SetObjective(app)
	cfg.SetConsent(app)
	if err := cfg.Enroll(line); err != nil {
		k.t.Fatal(err)
	}
	if cfg.Coordinator == "" {
		k.t.Error("the line has no key of the coordinator")
	}
	c, err := mobile.NewClient(cfg)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(c.Stop)
	return c
}

// TestPhoneJoinsByItsLine: a phone needs only the line to take part in a run whose broker demands
// TLS and users. A phone whose app refuses the plan does not take part. With another authority's
// fingerprint in its line, a phone cannot connect.
func TestPhoneJoinsByItsLine(t *testing.T) {
	k := newEnrolled(t)
	operator := k.add("alice", "operator")
	refused := k.phone(k.line("wary"), phoneBowl{refuses: true}).Run()
	if refused == nil || mobile.ErrorCode(refused.Error()) != mobile.CodePlan ||
		!strings.Contains(refused.Error(), "not on this phone") {
		t.Errorf("a phone that refuses: %v", refused)
	}
	line := k.line("phone")
	c := k.phone(line, phoneBowl{})
	k.member("a", k.add("a", "device")) // the run needs two
	ended := make(chan error, 1)
	go func() { ended <- c.Run() }()
	k.recordsReach(operator, 12)
	if _, err := zofl(t, append([]string{"stop"}, operator...)...); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil || !c.Ended() || c.Contributions() < 5 {
		t.Errorf("Run: %v, ended %v, %d contributions", err, c.Ended(), c.Contributions())
	}
}

// TestLineUsedTwice: if two phones with different losses use the same line, zofl reports that to
// the operator.
func TestLineUsedTwice(t *testing.T) {
	k := newEnrolled(t)
	operator := k.add("alice", "operator")
	line := k.line("phone")
	k.member("a", k.add("a", "device")) // the run needs two
	var phones sync.WaitGroup
	t.Cleanup(phones.Wait) // after their Stop, and before their directories go
	for _, app := range []phoneBowl{{}, {twice: true}} {
		c := k.phone(line, app)
		phones.Go(func() { _ = c.Run() })
	}
	waitFor(t, k.lead, `"event":"same id"`)
	out, err := zofl(t, append([]string{"status"}, operator...)...)
	if err != nil || !strings.Contains(out, "phone: give one of them an id") {
		t.Errorf("status: %v: %s", err, out)
	}
}
