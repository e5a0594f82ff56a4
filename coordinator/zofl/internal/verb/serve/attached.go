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

// errDetached is why a command with --attached ends.
var errDetached = errors.New("standard input has ended, and --attached ends with it")

// attach ends the context of a command when its standard input ends. A pipe ends when nobody holds
// its other end any more, so also when that program was killed.
func attach(cmd *cobra.Command) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	cmd.SetContext(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // an error ends it as well
		cli.LogFormatOf(cmd).Logger(os.Stderr, slog.LevelInfo).Info(errDetached.Error())
		cancel(errDetached)
	}()
}
