package engine

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A vector does not answer a survey, whatever its size, and before and after its device answered.
func TestVectorIsNoAnswer(t *testing.T) {
	c := newTestCore(t, chaintest.DensePlan(t, 2, "mu=auto"), 2)
	upload := func() wire.UploadState {
		t.Helper()
		data := make([]byte, 4*survey.Mu.Values())
		u := wire.Upload{N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Size: uint64(len(data)),
			Digest: wire.HashObject(data), Data: data}
		for _, o := range c.Step(1, Input{Kind: InUpload, ID: "d0", Token: "t", Frame: u.Append(nil)}) {
			if o.Kind == OutRespond {
				r, err := wire.DecodeUploadReply(o.Frame)
				if err != nil {
					t.Fatal(err)
				}
				return r.State
			}
		}
		t.Fatal("an upload is not answered")
		return 0
	}
	if got := upload(); got != wire.UploadRefused || c.counters.WrongSurvey != 1 {
		t.Errorf("a vector in a survey: state %v, counters %+v", got, c.counters)
	}
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
		Rest: survey.Answer(survey.Mu)}
	r.Values = wire.AppendScalars(nil, make([]float32, survey.Mu.Values())...)
	c.Step(1, Input{Kind: InReply, ID: "d0", Frame: r.Append(nil)})
	if got := upload(); got != wire.UploadRefused || c.counters.Contributions != 1 {
		t.Errorf("a vector after an answer: state %v, counters %+v", got, c.counters)
	}
}
