package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire"
)

// A Verdict is the outcome of `zofl verify`.
type Verdict struct {
	Run     string           `json:"run"`
	Begins  uint64           `json:"begins,omitempty"` // the record of the state that it begins with
	Records uint64           `json:"records"`
	Rounds  uint64           `json:"rounds"`
	Epoch   uint64           `json:"epoch"`
	Hash    string           `json:"hash"`              // of the last record
	Digest  string           `json:"digest,omitempty"`  // of the state after it
	Without string           `json:"without,omitempty"` // why there is no digest
	Ended   string           `json:"ended,omitempty"`
	Privacy *dp.Budget       `json:"privacy,omitempty"` // spent, of a device in every round
	Digests []digestOfRecord `json:"digests,omitempty"`
	Vectors *source.Vectors  `json:"vectors,omitempty"` // with transport=dense
	// Unfinished describes bytes that a crash left in the log. The coordinator told no device that
	// these bytes were stored.
	Unfinished []string `json:"unfinished,omitempty"`
	// Missing is how many records the log has lost at its end.
	Missing uint64 `json:"missing,omitempty"`

	loss error
}

type digestOfRecord struct {
	N      uint64 `json:"n"`
	Digest string `json:"digest"`
}

// Verify is `zofl verify`.
func Verify() *cobra.Command {
	var choice logChoice
	var every, at uint64
	asJSON := false
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that a log is undamaged, and compute its digest",
		Long: `Reads a whole log, checks that every record follows the one before it, and computes the
model. It prints the digest of its state, which every device must have too. The exit
code is 4 if the log is damaged, cannot be replayed, or lacks records or vectors that it
once held. No log is changed.

For a private run, give its key with --secret. Without it only the chain of records is checked.`,
		Example: `  zofl verify --store kitchen.log --every 64`,
		Args:    cli.NoArguments,
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
	f.Uint64Var(&at, "at", 0, "number of the record to verify up to; 0: the last one")
	f.Uint64Var(&every, "every", 0,
		"also print the digest after every so many records; 0: after the last")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	return cmd
}

// noKey says why verify prints no digest for a private run.
const noKey = "give the run key with --secret"

// verify replays the records up to at, and notes the digest after each multiple of every.
func (l *logChoice) verify(ctx context.Context, at, every uint64) (v Verdict, err error) {
	model, err := l.model(ctx)
	if err != nil {
		return v, err
	}
	src, err := l.open(ctx)
	if err != nil {
		return v, err
	}
	defer src.Close()
	defer func() { err = v.remember(ctx, l.log, err) }()
	note := func(n uint64, state *replica.Replica) error {
		if state != nil && len(state.Missing()) == 0 {
			v.Digests = append(v.Digests, digestOfRecord{n, source.Digest(state)})
		}
		return nil
	}
	r, err := source.Replay(ctx, src, source.Config{
		Replica: model, At: at, Every: every, Each: note,
	})
	switch {
	case errors.Is(err, plan.ErrRunKey) && l.secret == "":
		return check(ctx, src, at)
	case r == nil:
		return v, cli.Classify(err)
	case err != nil: // the log lacks a vector, or has it damaged
		v.Without = err.Error()
	default:
		v.Digest = source.Digest(r)
	}
	if err := l.needed(r.Plan()); err != nil {
		return v, err
	}
	v.Run, v.Records, v.Rounds, v.Epoch = r.Plan().Run, r.N(), r.Rounds(), r.Epoch()
	v.Privacy = dp.Spent(r.Plan(), r.N())
	v.Hash, v.Ended = r.Hash().String(), reasonOf(r.Ended())
	if r.Plan().Transport != plan.DenseVectors {
		return v, nil
	}
	vectors, failed := source.CheckVectors(ctx, src, at)
	v.Vectors = &vectors
	if failed == nil && v.vectorFault() == nil && !errors.As(err, new(*source.GoneError)) {
		failed = err
	}
	return v, cli.Classify(failed)
}

// remember adds to the verdict the numbers that the log stores besides its records. If the log has
// lost records, remember returns that error instead of err, because the loss can cause err.
func (v *Verdict) remember(ctx context.Context, log runlog.Log, err error) error {
	if log == nil {
		return err
	}
	v.Begins = runlog.Start(log)
	if notes, ok := log.(runlog.Notes); ok {
		v.Unfinished = notes.Notes()
	}
	if err == nil {
		_, damaged := runlog.HandoverOf(ctx, log)
		err = cli.Classify(damaged)
	}
	lost := runlog.CheckLoss(ctx, log, 0)
	var loss *runlog.LossError
	if lost == nil || errors.As(lost, &loss) && err != nil && !errors.Is(err, source.ErrEmpty) {
		return err
	}
	if loss == nil || err != nil {
		return cli.Classify(lost)
	}
	v.Missing, v.loss = loss.Lost(), lost
	return nil
}

// check verifies only the chain of records, and computes no model.
func check(ctx context.Context, src source.Source, at uint64) (v Verdict, err error) {
	c, err := source.Check(ctx, src, at)
	if err != nil {
		return v, cli.Classify(err)
	}
	return Verdict{
		Run: c.Plan.Run, Records: c.N, Rounds: c.Rounds, Epoch: c.LastEpoch, Hash: c.Hash.String(),
		Ended: reasonOf(c.End), Without: noKey, Privacy: dp.Spent(&c.Plan, c.N),
	}, nil
}

// fault returns an error if records or vectors are missing, or vectors are damaged.
func (v *Verdict) fault() error {
	if v.loss != nil {
		return cli.Classify(v.loss)
	}
	return v.vectorFault()
}

func (v *Verdict) vectorFault() error {
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
	return cli.Corrupt(fmt.Errorf("vectors beside the log: %s: restore them from a copy",
		strings.Join(faults, ", ")))
}

func reasonOf(end *wire.End) string {
	if end == nil {
		return ""
	}
	return end.Reason.String()
}

func (v *Verdict) print(out io.Writer) {
	digest := v.Digest
	if digest == "" {
		digest = "not computed: " + v.Without
	}
	t := cli.NewTable(out)
	t.AppendRows([]table.Row{
		{"run", v.Run},
		{"records", v.Records},
		{"rounds", v.Rounds},
		{"epoch", v.Epoch},
		{"hash of the last record", v.Hash},
		{"digest of the state", digest},
		{"ended", v.Ended},
	})
	t.AppendIf(v.Privacy != nil, "privacy spent", v.Privacy)
	if o := v.Vectors; o != nil {
		t.AppendRow(table.Row{"vectors",
			fmt.Sprintf("%d match their records, %s", o.Right, cli.Size(o.Bytes))})
	}
	t.AppendIf(v.Begins > 0, "begins", fmt.Sprintf("with the state after record %d", v.Begins))
	t.AppendIf(v.Missing > 0, "records missing at the end", v.Missing)
	for _, note := range v.Unfinished {
		t.AppendRow(table.Row{"unfinished", note + ", which zofl serve cuts off"})
	}
	for _, d := range v.Digests {
		t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N), d.Digest})
	}
	t.Render()
}
