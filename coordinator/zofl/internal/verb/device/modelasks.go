package device

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// modelVerb begins a line with which the program that started zofl asks for the model. The rest of
// the line names the file to write.
const modelVerb = "model "

// A modelAsks reads what the program that started zofl writes. It takes out the lines that ask for
// the model, at any time and from any of the program's threads, and passes on all others, which
// are answers.
type modelAsks struct {
	in     *bufio.Reader
	told   io.Writer // gets an event for each line
	client atomic.Pointer[client.Client]
	rest   []byte // of a line that is passed on
}

// of sets the client whose model is asked for.
func (a *modelAsks) of(c *client.Client) { a.client.Store(c) }

// Read implements [io.Reader].
func (a *modelAsks) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		line, err := a.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil // a part of a long line
		}
		if path, ok := bytes.CutPrefix(line, []byte(modelVerb)); ok && err == nil {
			go a.write(strings.TrimRight(string(path), "\r\n"))
			continue
		}
		if len(line) == 0 {
			return 0, err
		}
		a.rest = line
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// write stores the model in a new file, and tells the program after which record it is.
func (a *modelAsks) write(path string) {
	event := map[string]any{"event": "model", "path": path}
	n, err := a.store(path)
	if event["n"] = n; err != nil {
		event["err"] = err.Error()
	}
	_ = json.NewEncoder(a.told).Encode(event) // a program that has closed the pipe has ended
}

func (a *modelAsks) store(path string) (n uint64, err error) {
	c := a.client.Load()
	if c == nil || c.Dim() == 0 {
		return 0, nil
	}
	x := make([]float32, c.Dim())
	if n, err = c.Params(x); n == 0 || err != nil {
		return n, err
	}
	if err := vector.Write(path, x); err != nil {
		return n, fmt.Errorf("the model: %w", err)
	}
	return n, nil
}
