package wire_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// TestControl: a control variate may follow a contribution; any other bytes there belong to a later
// version.
func TestControl(t *testing.T) {
	want := wire.ControlVariate{N: 7, Scalars: wire.AppendScalars(nil, 1, -2)}
	for _, rest := range [][]byte{want.Append(nil), append(want.Append(nil), 0xa1, 'x')} {
		r, err := wire.DecodeReply(
			(&wire.Reply{Kind: wire.Contribution, N: 9, Weight: 1, Rest: rest}).Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Control(); !ok || got.N != want.N ||
			!bytes.Equal(got.Scalars, want.Scalars) {
			t.Errorf("rest %x: got %+v, %v, want %+v", rest, got, ok, want)
		}
	}
	whole := want.Append(nil)
	own := wire.ControlVariate{N: 9, Scalars: want.Scalars}
	odd := wire.ControlVariate{N: 7, Scalars: wire.Scalars{1}}
	none := [][]byte{nil, {7}, {0xa1, 'x'}, (&wire.ControlVariate{}).Append(nil), own.Append(nil),
		odd.Append(nil), {0xdd, 0xff, 0xff, 0xff, 0xff}}
	for n := range whole {
		none = append(none, whole[:n])
	}
	for _, rest := range none {
		r := wire.Reply{Kind: wire.Contribution, N: 9, Rest: rest}
		if got, ok := r.Control(); ok || got.N != 0 || got.Scalars != nil {
			t.Errorf("rest %x is read as %+v", rest, got)
		}
	}
	r := wire.Reply{Kind: wire.Contribution, N: 9, Rest: whole}
	if got := testing.AllocsPerRun(100, func() { r.Control() }); got != 0 {
		t.Errorf("reading a control variate allocates %v times", got)
	}
}

// TestKey: Key returns the key of a public plan. For a private plan Key accepts only the secret
// with which the plan was made.
func TestKey(t *testing.T) {
	secret, other := slices.Repeat([]byte{1}, 32), slices.Repeat([]byte{2}, 32)
	public, private := testPlan(t), testPlan(t)
	private.RunKey, private.KeyCheck = nil, plan.KeyCheck(secret)
	if err := valid.Plan(private); err != nil {
		t.Fatal(err)
	}
	if public.Private() || !private.Private() {
		t.Error("Private mistakes one for the other")
	}
	if got, err := public.Key(secret); err != nil || !bytes.Equal(got, public.RunKey) {
		t.Errorf("public: got %x, %v", got, err)
	}
	if got, err := private.Key(secret); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("private: got %x, %v", got, err)
	}
	for _, wrong := range [][]byte{nil, other, secret[:31]} {
		if got, err := private.Key(wrong); !errors.Is(err, plan.ErrRunKey) || got != nil {
			t.Errorf("secret %x: got %x, %v", wrong, got, err)
		}
	}
	// HMAC-SHA256 computed by Python's hmac.
	const want = "a09864990eb63a08"
	if got := plan.KeyCheck(secret).String(); got[:16] != want {
		t.Errorf("key check of 01..01 is %s", got)
	}
}
