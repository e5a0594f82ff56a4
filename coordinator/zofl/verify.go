package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

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
	Hash    string           `json:"hash"`              // of the last record
	Digest  string           `json:"digest,omitempty"`  // of the state after it
	Without string           `json:"without,omitempty"` // why there is no digest
	Ended   string           `json:"ended,omitempty"`
	Digests []digestOfRecord `json:"digests,omitempty"`
	Vectors *source.Vectors  `json:"vectors,omitempty"` // of a dense run
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
be replayed, is exit code 4. Of a dense run it compares the vectors that the log
should have with its records; one that is missing or something else is exit code
4, too. A state whose vectors are gone as dense_keep says has no digest. Of a private run whose key it is not given (--secret)
it checks the chain alone.`,
		Example: `  zofl verify --store kitchen.log
  zofl verify --url nats://127.0.0.1:4222 --run kitchen --every 64 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := choice.verify(cmd.Context(), at, every)
			if err != nil {
				return err
			}
			if !asJSON {
				v.print(cmd.OutOrStdout())
			} else if err := json.NewEncoder(cmd.OutOrStdout()).Encode(v); err != nil {
				return err
			}
			return v.fault()
		},
	}
	choice.replayFlags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&at, "at", 0, "verify up to this record; 0 is the last one")
	f.Uint64Var(&every, "every", 0, "print the digest of every so many records, too")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of the table")
	return cmd
}

// noKey is why a private run has no digest.
const noKey = "it needs the run key, --secret"

// verify replays the records up to at, and notes the digest of every so many.
func (l *logChoice) verify(ctx context.Context, at, every uint64) (v verdict, err error) {
	model, err := l.model()
	if err != nil {
		return v, err
	}
	src, err := l.open(ctx)
	if err != nil {
		return v, err
	}
	defer src.Close()
	r, err := source.Replay(ctx, src, source.Config{Replica: model, At: at, Every: every, Each: func(n uint64, state *replica.Replica) error {
		if state != nil && len(state.Missing()) == 0 {
			v.Digests = append(v.Digests, digestOfRecord{n, digestOf(state)})
		}
		return nil
	}})
	switch {
	case errors.Is(err, wire.ErrRunKey) && l.secret == "":
		return check(ctx, src, at)
	case r == nil:
		return v, classify(err)
	case err != nil: // a vector is gone, or damaged
		v.Without = err.Error()
	default:
		v.Digest = digestOf(r)
	}
	v.Run, v.Records, v.Rounds, v.Epoch = r.Plan().Run, r.N(), r.Rounds(), r.Epoch()
	v.Hash, v.Ended = r.Hash().String(), reasonOf(r.Ended())
	if r.Plan().Transport != wire.DenseVectors {
		return v, nil
	}
	vectors, failed := source.CheckVectors(ctx, src, at)
	v.Vectors = &vectors
	if failed == nil && v.fault() == nil && !errors.As(err, new(*source.GoneError)) {
		failed = err
	}
	return v, classify(failed)
}

// check verifies the chain alone.
func check(ctx context.Context, src source.Source, at uint64) (v verdict, err error) {
	c, err := source.Check(ctx, src, at)
	if err != nil {
		return v, classify(err)
	}
	return verdict{
		Run: c.Plan.Run, Records: c.N, Rounds: c.Rounds, Epoch: c.LastEpoch, Hash: c.Hash.String(),
		Ended: reasonOf(c.End), Without: noKey,
	}, nil
}

// fault says what is wrong with a log whose chain is right.
func (v *verdict) fault() error {
	if v.Vectors == nil {
		return nil
	}
	var faults []string
	if missing := v.Vectors.Missing; len(missing) > 0 {
		faults = append(faults, fmt.Sprintf("missing of records %d", missing))
	}
	if damaged := v.Vectors.Damaged; len(damaged) > 0 {
		faults = append(faults, fmt.Sprintf("damaged of records %d", damaged))
	}
	if len(faults) == 0 {
		return nil
	}
	return corruptError{fmt.Errorf("vectors that the log should have: %s: restore them from a copy", strings.Join(faults, ", "))}
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
		digest = "not computed: " + v.Without
	}
	t := newTable(out)
	t.AppendRows([]table.Row{{"run", v.Run}, {"records", v.Records}, {"rounds", v.Rounds}, {"epoch", v.Epoch},
		{"hash of the last record", v.Hash}, {"digest of the state", digest}, {"ended", v.Ended}})
	if o := v.Vectors; o != nil {
		t.AppendRow(table.Row{"vectors", fmt.Sprintf("%d as their records say, %s", o.Right, size(o.Bytes))})
	}
	for _, d := range v.Digests {
		t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N), d.Digest})
	}
	t.Render()
}

func digestOf(r *replica.Replica) string {
	d := r.Digest()
	return hex.EncodeToString(d[:])
}
