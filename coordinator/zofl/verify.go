package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
)

// A verdict is what `zofl verify` found.
type verdict struct {
	Run     string           `json:"run"`
	Records uint64           `json:"records"`
	Rounds  uint64           `json:"rounds"`
	Epoch   uint64           `json:"epoch"`
	Hash    string           `json:"hash"`   // of the last record
	Digest  string           `json:"digest"` // of the state after it
	Ended   string           `json:"ended,omitempty"`
	Digests []digestOfRecord `json:"digests,omitempty"`
}

type digestOfRecord struct {
	N      uint64 `json:"n"`
	Digest string `json:"digest"`
}

func verifyCommand() *cobra.Command {
	var choice logChoice
	var every, at uint64
	asJSON := false
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check a log's chain, and replay it to digests",
		Long: `Reads a whole log, checks that every record follows the one before it, applies
all records that count to a model, and prints the digest of what it comes to:
what every device of the run must hold. A log that is damaged, or that cannot
be replayed, is exit code 4.`,
		Example: `  zofl verify --store kitchen.log
  zofl verify --url nats://127.0.0.1:4222 --run kitchen --every 64 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := verdict{}
			r, err := choice.replay(cmd.Context(), at, func(n uint64, _ []byte, state *replica.Replica) error {
				if every > 0 && n%every == 0 && state != nil {
					v.Digests = append(v.Digests, digestOfRecord{n, digestOf(state)})
				}
				return nil
			})
			if err != nil {
				return err
			}
			v.Run, v.Records, v.Rounds, v.Epoch = r.Plan().Run, r.N(), r.Rounds(), r.Epoch()
			v.Hash, v.Digest = r.Hash().String(), digestOf(r)
			if r.Ended() != nil {
				v.Ended = r.Ended().Reason.String()
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			t := newTable(cmd.OutOrStdout())
			t.AppendRows([]table.Row{{"run", v.Run}, {"records", v.Records}, {"rounds", v.Rounds}, {"epoch", v.Epoch},
				{"hash of the last record", v.Hash}, {"digest of the state", v.Digest}, {"ended", v.Ended}})
			for _, d := range v.Digests {
				t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N), d.Digest})
			}
			t.Render()
			return nil
		},
	}
	choice.replayFlags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&at, "at", 0, "verify up to this record; 0 is the last one")
	f.Uint64Var(&every, "every", 0, "print the digest of every so many records, too")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of the table")
	return cmd
}

func digestOf(r *replica.Replica) string {
	d := r.Digest()
	return hex.EncodeToString(d[:])
}
