package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// readOnceLimit bounds what ReadFile takes of a file that cannot be read again.
const readOnceLimit = 16 << 20

// A passing is what a file said that can be read only once.
type passing struct {
	info    os.FileInfo
	content []byte
}

var passings struct {
	sync.Mutex
	kept []passing
}

// ReadFile reads a file that a flag names. Of what is no regular file, such as a FIFO or the pipe
// of a shell's <(command), it keeps what it read: it cannot be read twice. There it may have to
// wait for a writer, and waits no longer than the context.
func ReadFile(ctx context.Context, name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return os.ReadFile(name) // its error names the file
	}
	if content, ok := passed(info); ok {
		return content, nil
	}
	type result struct {
		content []byte
		err     error
	}
	read := make(chan result, 1)
	go func() { // stays behind when the context ends first, as does the program's interest
		content, err := readOnce(name)
		read <- result{content, err}
	}()
	select {
	case r := <-read:
		if r.err == nil {
			keep(info, r.content)
		}
		return r.content, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("stopped while %s had no end: something has to write the file, "+
			"and close it: %w", name, ctx.Err())
	}
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

func passed(info os.FileInfo) ([]byte, bool) {
	passings.Lock()
	defer passings.Unlock()
	for _, p := range passings.kept {
		if os.SameFile(p.info, info) {
			return p.content, true
		}
	}
	return nil, false
}

func keep(info os.FileInfo, content []byte) {
	passings.Lock()
	defer passings.Unlock()
	passings.kept = append(passings.kept, passing{info, content})
}
