package coordinator

import (
	"context"
	"log/slog"

	"github.com/zofl/zofl/coordinator/runlog"
)

// checkMemories returns an error if the log lost some or all of its records, unless the operator
// accepted the loss. The caller of checkMemories leads the log.
func checkMemories(ctx context.Context, log runlog.Log, accepted uint64, say *slog.Logger) error {
	told := 0
	tell := func() {
		if notes, ok := log.(runlog.Notes); ok {
			for _, note := range notes.Notes()[told:] {
				say.Warn("the log was left unfinished", "what", note)
				told++
			}
		}
	}
	tell()
	if err := runlog.CheckEmpty(ctx, log); err != nil {
		return err
	}
	if err := runlog.CheckLoss(ctx, log, accepted); err != nil {
		return err
	}
	m, ok := log.(runlog.Memories)
	if !ok {
		return nil
	}
	seen, err := m.Seen(ctx)
	if last := log.Last(); err == nil && seen <= last && accepted > 0 {
		say.Warn("the log itself has lost nothing: --accept-loss accepts what devices say that they "+
			"have beyond its end, and a later start needs it no more", "last", last, "upto",
			last+accepted)
	}
	if err != nil || seen <= log.Last() {
		return err
	}
	say.Warn("records are lost, and the loss is accepted", "last", log.Last(), "seen", seen)
	err = m.Forget(ctx)
	tell() // what it has cut
	return err
}
