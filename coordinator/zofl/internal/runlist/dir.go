package runlist

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// mostListed bounds the runs of a directory: the last used ones.
const mostListed = 500

const dirPrefix = "dir:"

// Dir returns the source of the logs in a directory, or of the directory's own log, but without the
// log in except. A missing directory has no logs. The source reads only, so a coordinator may have
// a log open.
func Dir(root, except string) Source {
	return &dir{root: root, except: absolute(except), known: map[string]known{}}
}

type dir struct {
	root, except string

	mu    sync.Mutex // guards known
	known map[string]known
}

// known is what the file of a history said when it had a size and a time.
type known struct {
	size int64
	at   time.Time
	run  Run
}

// List implements [Source].
func (d *dir) List(ctx context.Context) []Run {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, list := map[string]known{}, []Run{}
	for _, f := range d.files() {
		k, there := d.known[f.key]
		if !there || k.size != f.size || !k.at.Equal(f.at) {
			k = known{f.size, f.at, d.read(ctx, f)}
		}
		seen[f.key] = k
		if k.run.State != "" { // else it cannot be read
			list = append(list, k.run)
		}
	}
	d.known = seen
	return list
}

func (d *dir) read(ctx context.Context, f file) Run {
	r := Run{Key: f.key, Name: f.name}
	if h, _, err := history.Read(ctx, history.DirToRead(f.path)); err == nil {
		Describe(&r, h)
		_, marks := h.Snapshot(0)
		r.State = stateOf(marks)
	}
	return r
}

// History implements [Source].
func (d *dir) History(ctx context.Context, key string) ([]history.Point, []history.Mark, bool) {
	for _, f := range d.files() { // so a key cannot name a file elsewhere
		if f.key != key {
			continue
		}
		h, _, err := history.Read(ctx, history.DirToRead(f.path))
		if err != nil {
			return nil, nil, false
		}
		points, marks := h.Snapshot(0)
		return points, marks, true
	}
	return nil, nil, false
}

// A file is a history in the directory of a log.
type file struct {
	key, name, path string
	size            int64
	at              time.Time
}

// files returns the histories, the last written first.
func (d *dir) files() (list []file) {
	add := func(path, name string) bool {
		info, err := os.Stat(filepath.Join(path, history.FileName))
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		if absolute(path) != d.except {
			list = append(list, file{dirPrefix + path, strings.TrimSuffix(name, ".log"), path,
				info.Size(), info.ModTime()})
		}
		return true
	}
	if add(d.root, filepath.Base(absolute(d.root))) {
		return list
	}
	entries, _ := os.ReadDir(d.root) // what cannot be read has no runs to show
	for _, e := range entries {
		add(filepath.Join(d.root, e.Name()), e.Name())
	}
	slices.SortFunc(list, func(a, b file) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name))
	})
	return list[:min(len(list), mostListed)]
}

// absolute returns the one path of a file, or the path as it is where it has none.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
