package logs

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Recover is `zofl recover`.
func Recover() *cobra.Command {
	var from, store string
	var initial modelfile.Choice
	asJSON := false
	cmd := &cobra.Command{
		Use:   "recover --from DEVICE-STATE --store DIRECTORY",
		Short: "Make a log from a device's state, where the log is lost",
		Long: `Makes a log that begins with the state of a device, where the log of its run is lost.
The records go on after the last one of that state: the same run, plan and model. Then start
zofl serve with the new log. Devices in that state go on; others take the state from the
coordinator, and lose what they had applied after it.

DEVICE-STATE is a file that a device wrote: its checkpoint, its checkpoint-before (the model of
a run that vanished), or a passive replica's snapshot; or the directory of a device's store,
of which the newest state is taken. Take the device with the most records. If the directory
of the lost log still has its roster and epoch, name it: devices keep their slots.

Private runs, and plans with control variates, cannot be recovered: restore their log.`,
		Example: `  zofl recover --from phone7/checkpoint --store recovered.log
  zofl serve kitchen.json --store recovered.log`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || store == "" {
				return cli.Usage(errors.New("give --from DEVICE-STATE and --store DIRECTORY"))
			}
			if err := initial.Check(); err != nil {
				return err
			}
			file, r, h, err := stateFrom(from, initial.Reader())
			if err != nil {
				return cli.Classify(err)
			}
			if err := recoverable(r); err != nil {
				return cli.Usage(fmt.Errorf("--from %s: %w", file, err))
			}
			bar := terminal.NewBar(os.Stderr, "MiB written", 0)
			err = filelog.Recover(store, baseOf(r), func(w io.Writer) error {
				return r.Save(bar.Writer(w), h)
			})
			bar.Finish()
			if errors.Is(err, filelog.ErrRecords) {
				return cli.Usage(fmt.Errorf("--store: %w", err))
			}
			if err != nil {
				return cli.Classify(err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
					"run": r.Plan().Run, "n": r.N(), "rounds": r.Rounds(), "digest": source.Digest(r),
					"from": file, "store": store,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: a log of run %s that goes on after record %d, "+
				"from %s; digest of the state %s\n", store, r.Plan().Run, r.N(), file, source.Digest(r))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "state file of a device, or directory of its store")
	f.StringVar(&store, "store", "", "directory for the log")
	initial.Flags(cmd)
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a line")
	return cmd
}

// stateFrom reads a state file, or the state file with the most records in a device's store.
func stateFrom(path string, initial func([]float32) error) (
	file string, r *replica.Replica, h replica.History, err error,
) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, h, cli.FileFault("--from", path, err)
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		for _, item := range []string{"checkpoint", "checkpoint-before", "snapshot"} {
			files = append(files, filepath.Join(path, item))
		}
	}
	var newest replica.Head
	for _, name := range files {
		head, bad := source.Head(name)
		if bad != nil {
			err = errors.Join(err, bad)
		} else if head.N > newest.N {
			file, newest = name, head
		}
	}
	if file == "" {
		return "", nil, h, cli.Usage(fmt.Errorf("--from %s: no usable state: name the state file of a "+
			"device, or the directory of its store: %w", path, err))
	}
	if newest.Plan.Private() {
		return "", nil, h, cli.Usage(fmt.Errorf("--from %s: run %s is private: its coordinator "+
			"must not have the model, so no log can begin with it: restore the log from a copy",
			file, newest.Plan.Run))
	}
	var bar *terminal.Bar
	r, h, err = source.LoadState(file, &newest, initial, func(in io.Reader, size int64) io.Reader {
		bar = terminal.NewBar(os.Stderr, "MiB read", uint64(size)/terminal.MiB)
		return bar.Reader(in)
	})
	if bar != nil {
		bar.Finish()
	}
	if err != nil {
		err = cli.Usage(fmt.Errorf("--from %s: %w", file, err))
	}
	return file, r, h, err
}

// recoverable returns an error if no log can begin with a state.
func recoverable(r *replica.Replica) error {
	p := r.Plan()
	switch {
	case r.Ended() != nil:
		return fmt.Errorf("run %s has ended with record %d: nothing can follow", p.Run, r.N())
	case p.Control != plan.NoControl && p.Control != plan.SVRG:
		return fmt.Errorf("with control=%v, devices refer to records that are lost: restore the "+
			"log from a copy", p.Control)
	case r.Phase() == 2:
		return fmt.Errorf("it is a state between the two phases of a round, after record %d: take "+
			"another device's, or a later one", r.N())
	case r.N() < 2:
		return errors.New("it has no record besides the plan: begin the run again")
	}
	return nil
}

// baseOf returns the base of a log that begins with a state.
func baseOf(r *replica.Replica) runlog.Base {
	digest := r.Digest()
	b := runlog.Base{N: r.N(), Hash: r.Hash(), Epoch: r.Epoch(), Rounds: r.Rounds(),
		First: r.PlanRecord(), Digest: [8]byte(digest[:8])}
	first, err := wire.DecodeRecord(b.First)
	if err != nil {
		panic("zofl: internal error: a replica's record 1: " + hex.EncodeToString(b.First))
	}
	first.Plan = r.Plan()
	if now := first.Append(nil); string(now) != string(b.First) {
		b.Plan = now
	}
	return b
}
