package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/zofl/zofl/coordinator/filelog"
)

// setAside makes room for another run where a log lost its records. A log with records is left
// alone: with --begin-anew, its run goes on although devices know of another one.
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
