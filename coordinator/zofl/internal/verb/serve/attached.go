package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// errDetached is the cause with which a command with --attached ends.
var errDetached = errors.New("standard input has ended, and --attached ends with it")

// attach ends the context of a command when its standard input ends. A pipe ends when no process
// holds its other end, so it also ends when the program at the other end was killed.
func attach(cmd *cobra.Command) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	cmd.SetContext(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // a read error counts as the end of the input
		cli.LogFormatOf(cmd).Logger(os.Stderr, slog.LevelInfo).Info(errDetached.Error())
		cancel(errDetached)
	}()
}
