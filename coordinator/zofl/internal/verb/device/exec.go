package device

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/losses"
)

// Exec is `zofl exec`.
func Exec() *cobra.Command {
	var d deviceFlags
	var p losses.Program
	var strict bool
	cmd := &cobra.Command{
		Use:   "exec -- COMMAND [ARGUMENT...]",
		Short: "Take part in a run with a loss in any language",
		Long: `Takes part in a run as a device whose loss is computed by another program: a script around
an inference engine, a simulator, a test bench. The program reads parameters from a file
and answers lines; docs/exec.md has the protocol. It is started again when it ends, and
killed with its children when it hangs. Its standard error goes to the log.`,
		Example: `  zofl exec --url nats://127.0.0.1:4222 --run kitchen --id pi-3 -- python3 loss.py`,
		RunE: func(cmd *cobra.Command, command []string) error {
			logger := d.logger(slog.LevelInfo)
			p.Lock = d.programLock()
			asks := &modelAsks{told: cmd.ErrOrStderr()}
			if p.Stdio {
				asks.in = bufio.NewReaderSize(cmd.InOrStdin(), 1<<16)
				cmd.SetIn(asks)
			}
			program, err := p.Start(cmd, command, logger)
			if err != nil {
				return err
			}
			defer program.Close()
			if program.Dim() == 0 {
				d.anyDim = program.SetDim
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() { // a device whose program has ended for good stops
				select {
				case <-program.Ended():
					cancel()
				case <-ctx.Done():
				}
			}()
			cmd.SetContext(ctx)
			d.began = func(c *client.Client) {
				asks.of(c)
				program.ReportTo(c.Report)
			}
			cfg := client.Config{Objective: program.Objective(d.id), NotStrict: !strict}
			if program.HasColumns() {
				if cfg.Columns, err = program.Columns(ctx, d.id); err != nil {
					return err
				}
			}
			if program.HasColumns() || program.TakesFactors() {
				cfg.Accept = program.Accept
			}
			err = d.take(cmd, cfg)
			if program.HasColumns() {
				program.TellScale(ctx)
			}
			if errors.Is(err, client.ErrLoss) {
				err = fmt.Errorf("%w: --strict=false", err)
			}
			return wrongDim(err, "and the program said dim=%[2]d: give a program for the plan, "+
				"or make a plan with --dim %[2]d")
		},
	}
	d.flags(cmd)
	p.Flags(cmd)
	cmd.Flags().BoolVar(&strict, "strict", true,
		"end if the program fails in its first round, and again")
	return cmd
}

// programLock returns the name of the file that the device's program locks. Each user, broker, run,
// id and folder of state has a file of its own.
func (d *deviceFlags) programLock() string {
	store, err := filepath.Abs(d.store)
	if err != nil {
		store = d.store
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %q %q", os.Getuid(), d.URL, d.run, d.id, store))
	return filepath.Join(os.TempDir(), fmt.Sprintf("zofl-program-%x.lock", sum[:8]))
}
