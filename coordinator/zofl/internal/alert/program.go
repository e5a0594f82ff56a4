package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// runWithin bounds how long a command may run; then it is killed.
const runWithin = 30 * time.Second

// SplitCommand splits a command at spaces. No shell reads it, so quotes and other signs of a shell
// are an error.
func SplitCommand(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("is empty: name a program, as in /usr/local/bin/notify.sh")
	}
	if i := strings.IndexAny(text, "'\"|&;<>$`\\*\n"); i >= 0 {
		return nil, fmt.Errorf("has %q, and no shell reads it: name a program and plain arguments, or "+
			"write a script", text[i])
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("%w: name a program that is there and may be executed", err)
	}
	words[0] = path
	return words, nil
}

// program runs a command for each alert, with the alert as JSON on its standard input and in its
// environment.
func program(command []string) sender {
	return func(ctx context.Context, a *Alert) error {
		input, err := json.Marshal(a)
		if err != nil {
			return finalError{err}
		}
		ctx, cancel := context.WithTimeoutCause(ctx, runWithin,
			fmt.Errorf("killed after %v", runWithin))
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdin = bytes.NewReader(append(input, '\n'))
		cmd.Env = append(os.Environ(), a.environment()...)
		cmd.WaitDelay = time.Second // its children may hold its output
		said := &tail{}
		cmd.Stdout, cmd.Stderr = said, said
		err = cmd.Run()
		switch {
		case err == nil, errors.Is(err, exec.ErrWaitDelay):
			return nil
		case context.Cause(ctx) != nil:
			err = context.Cause(ctx)
		}
		return finalError{fmt.Errorf("%s: %w: %s", command[0], err, said)}
	}
}

// environment are the variables of a command.
func (a *Alert) environment() []string {
	return []string{
		"ZOFL_TEXT=" + a.Text, "ZOFL_RUN=" + a.Run, "ZOFL_KIND=" + string(a.Kind),
		"ZOFL_STATE=" + a.State, "ZOFL_REASON=" + a.Reason, "ZOFL_REMEDY=" + a.Remedy,
		"ZOFL_DEVICE=" + a.Device, "ZOFL_RECORD=" + strconv.FormatUint(a.Record, 10),
		"ZOFL_ROUND=" + strconv.FormatUint(a.Round, 10),
		"ZOFL_TIME=" + a.Time.Format(time.RFC3339),
	}
}

// A tail keeps the end of what a command prints.
type tail struct{ b []byte }

const longestTail = 500

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > longestTail {
		t.b = append([]byte{}, t.b[len(t.b)-longestTail:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "?")) }
