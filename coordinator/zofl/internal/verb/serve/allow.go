package serve

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/textfile"
	"github.com/zofl/zofl/plan"
)

// allowEvery is the least time between two looks at the file of ids.
const allowEvery = time.Second

// An allowList is a file of the ids that may join, one on each line. It ignores empty lines and
// text after a #. Any goroutine may call has.
type allowList struct {
	ctx    context.Context // of the command
	path   string
	logger *slog.Logger

	mu     sync.Mutex
	ids    map[string]bool
	seen   os.FileInfo
	looked time.Time
}

// allowed returns the function that says whether an id is on a list. allowed returns nil if path
// names no list.
func allowed(ctx context.Context, path string, logger *slog.Logger) (func(id string) bool, error) {
	if path == "" {
		return nil, nil
	}
	l := &allowList{ctx: ctx, path: path, logger: logger}
	if err := l.read(); err != nil {
		return nil, cli.FileFault("--allow", path, err)
	}
	return l.has, nil
}

// has says whether an id is on the list. If the file has become unreadable, the list stays as it
// was.
func (l *allowList) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.looked) >= allowEvery {
		l.looked = now
		if err := l.read(); err != nil {
			l.logger.Warn("the list of --allow stays as it was", "err", err)
		}
	}
	return l.ids[id]
}

// read reads the file if it has changed.
func (l *allowList) read() error {
	info, err := os.Stat(l.path)
	if err != nil || l.seen != nil && sameFile(info, l.seen) {
		return err
	}
	data, err := cli.ReadFile(l.ctx, l.path)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	n := 0
	for line := range bytes.Lines(textfile.UTF8(data)) {
		n++
		text, _, _ := strings.Cut(string(line), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := plan.CheckName(text); err != nil {
			return fmt.Errorf("%s:%d: %w", l.path, n, err)
		}
		ids[text] = true
	}
	l.ids, l.seen = ids, info
	return nil
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
