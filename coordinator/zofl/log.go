package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/wire"
)

func logCommand() *cobra.Command {
	var choice logChoice
	var from, to uint64
	asJSON := false
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the records of a run",
		Long: `Prints the records of a run, one a line: from a log on disk that no coordinator
has open, from a JetStream, or from a running coordinator.`,
		Example: `  zofl log --store kitchen.log --from 100 --to 120
  zofl log --url nats://127.0.0.1:4222 --run kitchen --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := choice.open(cmd.Context())
			if err != nil {
				return err
			}
			defer src.Close()
			var failed error
			err = src.Read(cmd.Context(), from, func(n uint64, record []byte) bool {
				if to > 0 && n > to {
					return false
				}
				failed = printRecord(cmd.OutOrStdout(), record, asJSON)
				return failed == nil
			})
			if failed != nil {
				return failed
			}
			return classify(err)
		},
	}
	choice.flags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&from, "from", 1, "first record")
	f.Uint64Var(&to, "to", 0, "last record; 0 is the last there is")
	f.BoolVar(&asJSON, "json", false, "print a JSON object a line")
	cmd.AddCommand(moveCommand())
	return cmd
}

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
	Scalars      []float32  `json:"scalars,omitempty"` // of the first term
	To           uint64     `json:"to,omitempty"`
	Reason       string     `json:"reason,omitempty"`
	Text         string     `json:"text,omitempty"`
	Plan         *wire.Plan `json:"plan,omitempty"`
}

func printRecord(out io.Writer, record []byte, asJSON bool) error {
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
		for i := range r.Round.Terms[0].Scalars.Len() {
			l.Scalars = append(l.Scalars, r.Round.Terms[0].Scalars.At(i))
		}
		text = fmt.Sprintf("round=%d attempt=%d step=%v contributors=%d scalars=%d", l.Round, l.Attempt, l.Step, l.Contributors, len(l.Scalars))
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

// checkRun refuses what cannot be the name of a run.
func checkRun(run string) error {
	if run == "" {
		return usageError{errors.New("--run is missing: name the run")}
	}
	if err := wire.CheckName(run); err != nil {
		return usageError{fmt.Errorf("--run: %w", err)}
	}
	return nil
}
