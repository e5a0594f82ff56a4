package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A line is a record as people and programs read it.
type line struct {
	N            uint64     `json:"n"`
	Kind         string     `json:"kind"`
	Epoch        uint64     `json:"epoch"`
	Hash         string     `json:"hash"`
	Bytes        int        `json:"bytes"`
	Round        uint64     `json:"round,omitempty"`
	Attempt      uint32     `json:"attempt,omitempty"`
	Step         float32    `json:"step,omitempty"`
	Contributors uint32     `json:"contributors,omitempty"`
	Phase        uint8      `json:"phase,omitempty"`
	Terms        []logTerm  `json:"terms,omitempty"`
	To           uint64     `json:"to,omitempty"`
	Reason       string     `json:"reason,omitempty"`
	Text         string     `json:"text,omitempty"`
	Plan         *wire.Plan `json:"plan,omitempty"`
}

// A logTerm is scalars along the directions of record n-back: those of all devices, or
// of a slot's own.
type logTerm struct {
	Back    uint64    `json:"back,omitempty"`
	Slot    *uint32   `json:"slot,omitempty"`
	Scalars []float32 `json:"scalars"`
}

// termsOf returns a round's terms, and how many scalars they have.
func termsOf(r *wire.Round, precision wire.Precision) (terms []logTerm, scalars int) {
	for _, t := range r.Terms {
		out := logTerm{Back: t.Back}
		if t.Source != prng.Shared {
			slot := t.Source - 1
			out.Slot = &slot
		}
		for i := range precision.Len(t.Scalars) {
			out.Scalars = append(out.Scalars, precision.At(t.Scalars, i))
		}
		terms, scalars = append(terms, out), scalars+len(out.Scalars)
	}
	return terms, scalars
}

func printRecord(out io.Writer, record []byte, precision wire.Precision, asJSON bool) error {
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return classify(err)
	}
	l := line{N: r.N, Kind: r.Kind.String(), Epoch: r.Epoch, Hash: wire.HashRecord(record).String(), Bytes: len(record)}
	text := ""
	switch r.Kind {
	case wire.KindPlan:
		l.Plan = r.Plan
		text = fmt.Sprintf("run=%s preset=%s dim=%d", r.Plan.Run, r.Plan.Preset, r.Plan.Dim)
	case wire.KindRound:
		l.Round, l.Attempt, l.Step, l.Contributors = r.Round.Round, r.Round.Attempt, r.Round.Step, r.Round.Contributors
		var scalars int
		l.Phase = r.Round.Phase
		l.Terms, scalars = termsOf(r.Round, precision)
		text = fmt.Sprintf("round=%d attempt=%d step=%v contributors=%d terms=%d scalars=%d", l.Round, l.Attempt, l.Step, l.Contributors, len(l.Terms), scalars)
		if l.Phase > 0 {
			text += fmt.Sprintf(" phase=%d", l.Phase)
		}
	case wire.KindRollback:
		l.To = r.To
		text = fmt.Sprintf("to=%d", r.To)
	case wire.KindEnd:
		l.Reason, l.Text = r.End.Reason.String(), r.End.Text
		text = fmt.Sprintf("reason=%s %s", l.Reason, l.Text)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(l)
	}
	_, err = fmt.Fprintf(out, "%d %s epoch=%d hash=%s bytes=%d %s\n", l.N, l.Kind, l.Epoch, l.Hash, l.Bytes, text)
	return err
}
