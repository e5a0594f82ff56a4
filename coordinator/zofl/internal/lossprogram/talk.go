package lossprogram

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// longestLine bounds an answer, in bytes.
const longestLine = 1 << 20

// A talk is the exchange of requests and answers with a program, from its start to its end.
type talk struct {
	out      io.Writer
	patience time.Duration // how long a late answer is waited for
	hang     func()        // ends the program; called once
	reports  *reports

	owed    atomic.Bool // the program owes an answer
	asked   time.Time   // when the last request was sent
	late    bool        // a request ended before its answer came: ignore the answer
	overdue *time.Timer // ends the program when a late answer does not come
	answers chan string

	once  sync.Once
	why   error         // what went wrong
	ended chan struct{} // closed after why is set
	spoke atomic.Bool   // the program has computed something
}

// newTalk starts a talk that reads answers and reports from in until in ends. The talk calls hang
// when the program must end.
func newTalk(in io.Reader, out io.Writer, patience time.Duration, hang func(),
	r *reports) *talk {
	t := &talk{out: out, patience: patience, hang: hang, reports: r, answers: make(chan string, 1),
		ended: make(chan struct{})}
	t.overdue = time.AfterFunc(time.Hour, func() {
		t.fail(fmt.Errorf("did not answer within %v after the end of a round", patience))
	})
	t.overdue.Stop()
	go t.listen(in)
	return t
}

// listen reads answers until the program ends or writes a line without a request. listen ignores an
// unfinished last line.
func (t *talk) listen(in io.Reader) {
	lines := bufio.NewReaderSize(in, longestLine)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("answered a line of over %d bytes", longestLine)
		}
		if err != nil {
			t.fail(err)
			return
		}
		if bytes.HasPrefix(line, []byte(reportVerb)) {
			t.reports.take(string(line))
			continue
		}
		unasked := line
		more, _ := lines.Peek(lines.Buffered())
		if after := stray(more); after != nil { // no request has asked for this
			if isAnswer(line) {
				unasked = after
			}
		} else if t.owed.CompareAndSwap(true, false) {
			t.overdue.Stop()
			t.answers <- string(bytes.TrimSuffix(line, []byte{'\n'}))
			continue
		}
		t.fail(fmt.Errorf("said %q, unasked: print to standard error instead",
			clip(string(bytes.TrimSpace(unasked)))))
		return
	}
}

// isAnswer says whether a line begins as an answer does. Of two lines that came for one request,
// the other is the one that the program should not have printed.
func isAnswer(line []byte) bool {
	word, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
	switch string(word) {
	case "hello", "ok", "loss", "metrics", "columns", "error":
		return true
	}
	return false
}

// fail ends the talk for a reason. Only the first call has an effect.
func (t *talk) fail(why error) {
	t.once.Do(func() {
		t.overdue.Stop()
		t.why = why
		close(t.ended)
		t.hang()
	})
}

// free waits until the program owes no answer. Only then may the shared file change. free waits for
// a quarter of the time that is left, as the device does for a callback in Go.
func (t *talk) free(ctx context.Context) error {
	if !t.late {
		return nil
	}
	var busy <-chan time.Time
	if end, ok := ctx.Deadline(); ok {
		busy = time.After(time.Until(end) / 4)
	}
	select {
	case <-t.answers:
		t.late = false
		return nil
	case <-t.ended:
		return t.why
	case <-busy:
		return fmt.Errorf("%w: the program still owes the answer to a request of %v ago: see whether "+
			"its loss hangs, or raise deadline", objective.ErrBusy,
			time.Since(t.asked).Round(time.Millisecond))
	case <-ctx.Done():
		return fmt.Errorf("%w: the program still owes an earlier answer: %w", objective.ErrBusy,
			context.Cause(ctx))
	}
}

// ask sends a request and returns the arguments of its answer, which begins with verb. If the
// program sends a line that is neither such an answer nor an error, ask ends the program.
func (t *talk) ask(ctx context.Context, request, verb string) ([]string, error) {
	if err := t.free(ctx); err != nil {
		return nil, err
	}
	t.asked = time.Now()
	t.owed.Store(true)
	if _, err := io.WriteString(t.out, request+"\n"); err != nil {
		select {
		case <-t.ended: // the program ended by itself, and listen has set the reason
		case <-time.After(t.patience):
			t.fail(err)
		}
		return nil, t.why
	}
	select {
	case line := <-t.answers:
		return t.parse(line, verb)
	case <-t.ended:
		return nil, t.why
	case <-ctx.Done():
		t.late = true
		t.overdue.Reset(t.patience)
		if !t.owed.Load() {
			t.overdue.Stop() // the answer came meanwhile
		}
		return nil, context.Cause(ctx)
	}
}

func (t *talk) parse(line, verb string) ([]string, error) {
	word, rest, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	switch word {
	case verb:
		if verb != "hello" && verb != "ok" {
			t.spoke.Store(true)
		}
		return strings.Fields(rest), nil
	case "error":
		return nil, fmt.Errorf("the program says: %s", clip(rest))
	}
	err := fmt.Errorf("answered %q: answer %s, or error, and print all else to standard error",
		clip(line), verb)
	t.fail(err)
	return nil, err
}
