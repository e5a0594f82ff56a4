package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// A verdict is what `zofl verify` found.
type verdict struct {
	Run     string           `json:"run"`
	Records uint64           `json:"records"`
	Rounds  uint64           `json:"rounds"`
	Epoch   uint64           `json:"epoch"`
	Hash    string           `json:"hash"`             // of the last record
	Digest  string           `json:"digest,omitempty"` // of the state after it; none: the run is private
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
be replayed, is exit code 4. Of a private run whose key it is not given (--secret)
it checks the chain alone.`,
		Example: `  zofl verify --store kitchen.log
  zofl verify --url nats://127.0.0.1:4222 --run kitchen --every 64 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := choice.verify(cmd.Context(), at, every)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			v.print(cmd.OutOrStdout())
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

// verify replays the records up to at, and notes the digest of every so many.
func (l *logChoice) verify(ctx context.Context, at, every uint64) (v verdict, err error) {
	r, err := l.replay(ctx, at, func(n uint64, _ []byte, state *replica.Replica) error {
		if every > 0 && n%every == 0 && state != nil {
			v.Digests = append(v.Digests, digestOfRecord{n, digestOf(state)})
		}
		return nil
	})
	switch {
	case errors.Is(err, wire.ErrRunKey) && l.secret == "":
		return l.check(ctx, at)
	case err != nil:
		return v, err
	}
	v.Run, v.Records, v.Rounds, v.Epoch = r.Plan().Run, r.N(), r.Rounds(), r.Epoch()
	v.Hash, v.Digest, v.Ended = r.Hash().String(), digestOf(r), reasonOf(r.Ended())
	return v, nil
}

// check verifies the chain alone.
func (l *logChoice) check(ctx context.Context, at uint64) (v verdict, err error) {
	src, err := l.open(ctx)
	if err != nil {
		return v, err
	}
	defer src.Close()
	c, err := source.Check(ctx, src, at)
	if err != nil {
		return v, classify(err)
	}
	return verdict{Run: c.Run, Records: c.N, Rounds: c.Rounds, Epoch: c.Epoch, Hash: c.Hash.String(), Ended: reasonOf(c.Ended)}, nil
}

func reasonOf(end *wire.End) string {
	if end == nil {
		return ""
	}
	return end.Reason.String()
}

func (v *verdict) print(out io.Writer) {
	digest := v.Digest
	if digest == "" {
		digest = "not computed: it needs the run key, --secret"
	}
	t := newTable(out)
	t.AppendRows([]table.Row{{"run", v.Run}, {"records", v.Records}, {"rounds", v.Rounds}, {"epoch", v.Epoch},
		{"hash of the last record", v.Hash}, {"digest of the state", digest}, {"ended", v.Ended}})
	for _, d := range v.Digests {
		t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N), d.Digest})
	}
	t.Render()
}

func digestOf(r *replica.Replica) string {
	d := r.Digest()
	return hex.EncodeToString(d[:])
}
