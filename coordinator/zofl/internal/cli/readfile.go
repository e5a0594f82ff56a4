package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// readOnceLimit bounds the bytes that ReadFile reads from a file that can be read only once.
const readOnceLimit = 16 << 20

// A passing is the content of a file that can be read only once.
type passing struct {
	name    string
	info    os.FileInfo
	content []byte
}

var passings struct {
	sync.Mutex
	kept []passing
}

// ReadFile reads a file that a flag names. If the file is not a regular one, such as a FIFO or the
// pipe of a shell's <(command), ReadFile keeps the content, because such a file cannot be read
// twice. Reading such a file may have to wait for a writer. The wait ends when the context ends.
func ReadFile(ctx context.Context, name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && (info.Mode().IsRegular() || info.IsDir()) {
		return os.ReadFile(name)
	}
	if content, ok := passed(name, info); ok {
		return content, nil
	}
	if err != nil {
		return os.ReadFile(name) // the error names the file
	}
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() { // goes on, unused, if the context ends first
		content, err := readOnce(name)
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		if r.err == nil {
			keep(passing{name, info, r.content})
		}
		return r.content, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("stopped while %s had no end: something has to write the file, "+
			"and close it: %w", name, ctx.Err())
	}
}

// ReadPrivate reads a file with a secret as ReadFile does. ReadPrivate returns an error if users
// other than the owner can use the file.
func ReadPrivate(ctx context.Context, name string) ([]byte, error) {
	if err := CheckMode(name); err != nil && !errors.As(err, new(*fs.PathError)) {
		return nil, err
	}
	return ReadFile(ctx, name)
}

func readOnce(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, readOnceLimit+1))
	if len(content) > readOnceLimit {
		return nil, fmt.Errorf("%s has more than %d MiB: give a regular file", name, readOnceLimit>>20)
	}
	return content, err
}

// passed returns the content of a file that ReadFile has kept. If info is nil, the file no longer
// exists, such as a FIFO that was removed after the read. Then passed finds the content by the
// file's name.
func passed(name string, info os.FileInfo) ([]byte, bool) {
	passings.Lock()
	defer passings.Unlock()
	for _, p := range passings.kept {
		if info == nil && p.name == name || info != nil && os.SameFile(p.info, info) {
			return p.content, true
		}
	}
	return nil, false
}

func keep(p passing) {
	passings.Lock()
	defer passings.Unlock()
	passings.kept = append(passings.kept, p)
}
