package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// setAside renames the files of a log that lost its records, so that another run can use the
// directory. It does not touch a log with records: with --begin-anew, the log's run continues even
// if devices know a longer log.
func setAside(dir string, logger *slog.Logger) error {
	names, err := filelog.SetAside(dir)
	if errors.Is(err, filelog.ErrRecords) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--begin-anew: %w", err)
	}
	if len(names) > 0 {
		logger.Warn("set aside what an earlier run left", "store", dir,
			"files", strings.Join(names, " "))
	}
	return nil
}

// anew sets the streams of an earlier run in JetStream aside, so that another run can use the name,
// and opens the log again.
func (f *serveFlags) anew(ctx context.Context, log *jetlog.Log, nc *nats.Conn,
	logger *slog.Logger) (runlog.Log, error) {
	_, err := log.Begin(ctx)
	name := ""
	if err == nil {
		name, err = log.SetAside(ctx)
	}
	if err := errors.Join(err, log.Close()); err != nil {
		return nil, fmt.Errorf("--begin-anew: %w", err)
	}
	if name != "" {
		logger.Warn("set aside the members of an earlier run", "stream", name)
	}
	switch name, err := history.SetAside(ctx, nc, f.run); {
	case err != nil:
		logger.Warn("the history of an earlier run is not set aside", "err", err)
	case name != "":
		logger.Warn("set aside the history of an earlier run", "stream", name)
	}
	return f.openLog(ctx, nc, logger)
}
