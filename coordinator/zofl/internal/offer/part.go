package offer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

// A part is a file with the bytes fetched so far. It is in the directory of the wanted file, under
// a name that contains the SHA-256 of the whole file. Its lock file is in the same directory.
const (
	hidden     = ".zofl-"
	partSuffix = ".part"
	lockSuffix = ".lock"
)

// forgotten is how long a part may be without a new piece before sweep removes it.
const forgotten = 24 * time.Hour

func (r *Request) part() string {
	return filepath.Join(filepath.Dir(r.Name), hidden+r.SHA256+partSuffix)
}

// fetch completes the part, and then renames it to the file's name. After an error of the network
// or the disk, or if the process is killed, the part stays.
func (r *Request) fetch(ctx context.Context) error {
	release, err := r.own(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := os.Stat(r.Name); err == nil {
		return os.ErrExist
	}
	part, err := os.OpenFile(r.part(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(r.complete(ctx, part), part.Close())
	if errors.Is(err, ErrOther) {
		return errors.Join(err, os.Remove(r.part()))
	}
	if err == nil {
		err = vector.Place(r.part(), r.Name)
	}
	if err == nil || errors.Is(err, os.ErrExist) {
		sweep(filepath.Dir(r.Name), r.part())
	}
	return err
}

// complete fetches the missing bytes of the part. If the whole part has another hash, the bytes of
// an earlier process may be the cause, and complete fetches everything again.
func (r *Request) complete(ctx context.Context, part *os.File) error {
	info, err := part.Stat()
	if err != nil {
		return err
	}
	for at := info.Size() - info.Size()%wire.MaxPiece; ; at = 0 {
		if err := part.Truncate(at); err != nil {
			return err
		}
		if err := r.fill(ctx, part, uint64(at)); err != nil {
			return err
		}
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return err
		}
		err := r.compare(part)
		if at == 0 || !errors.Is(err, ErrOther) {
			return errors.Join(err, part.Sync())
		}
	}
}

// own waits until no other process works on the part, and locks the part.
func (r *Request) own(ctx context.Context) (release func(), err error) {
	for told := false; ; told = true {
		release, err = lockPart(r.part())
		if !errors.Is(err, disk.ErrLocked) {
			return release, err
		}
		if !told {
			r.wait("another process fetches the same file to the same place")
		}
		if err := pause.For(ctx, between); err != nil {
			return nil, err
		}
	}
}

func lockPart(part string) (release func(), err error) {
	name := strings.TrimSuffix(part, partSuffix) + lockSuffix
	lock, err := disk.OS.Lock(name)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = os.Remove(name) // on systems that cannot remove open files, Close does
		_ = lock.Close()
	}, nil
}

// sweep removes the file own, and the forgotten parts in a folder. sweep ignores errors.
func sweep(dir, own string) {
	_ = os.Remove(own)
	parts, _ := filepath.Glob(filepath.Join(dir, hidden+"*"+partSuffix))
	for _, part := range parts {
		info, err := os.Stat(part)
		if err != nil || time.Since(info.ModTime()) < forgotten {
			continue
		}
		if release, err := lockPart(part); err == nil {
			_ = os.Remove(part)
			release()
		}
	}
}
