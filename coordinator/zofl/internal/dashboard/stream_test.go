package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// The status for the page says in words what a survey asks for.
func TestStatusOfSurvey(t *testing.T) {
	s := operate.StatusOf(report.Status{Survey: "mu", Asked: 3, Contributions: 1})
	b, err := json.Marshal(statusOf(s))
	want := `"asks":"losses to find mu; answers so far: 1 of 3"`
	if err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%s, %v, want %s in it", b, err, want)
	}
}

// A told is an event as a page reads it.
type told struct {
	name, id string
	change
	numbers map[string][]*float64 // of rounds
}

// A listener reads a stream.
type listener struct {
	t      *testing.T
	cancel context.CancelFunc
	lines  *bufio.Scanner
}

// listen opens a stream, after an event if had is one.
func (l *lab) listen(had string) *listener {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	l.t.Cleanup(cancel)
	r := l.request("GET", "/api/runs/kitchen/stream", "").WithContext(ctx)
	if had != "" {
		r.Header.Set("Last-Event-ID", had)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		l.t.Fatalf("%s %v", response.Status, response.Header)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	return &listener{l.t, cancel, lines}
}

// next returns the next event.
func (l *listener) next() (e told) {
	l.t.Helper()
	for l.lines.Scan() {
		key, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch key {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			var all struct {
				Rounds map[string][]*float64 `json:"rounds"`
			}
			if err := json.Unmarshal([]byte(value), &all); err != nil {
				l.t.Fatal(err)
			}
			e.numbers = all.Rounds
			var rest map[string]json.RawMessage
			if err := json.Unmarshal([]byte(value), &rest); err != nil {
				l.t.Fatal(err)
			}
			delete(rest, "rounds")
			b, err := json.Marshal(rest)
			if err == nil {
				err = json.Unmarshal(b, &e.change)
			}
			if err != nil {
				l.t.Fatal(err)
			}
			return e
		}
	}
	l.t.Fatalf("the stream ended: %v", l.lines.Err())
	return e
}

// until returns the first wanted event, and all events before it.
func (l *listener) until(wanted func(told) bool) (list []told) {
	l.t.Helper()
	for {
		list = append(list, l.next())
		if wanted(list[len(list)-1]) {
			return list
		}
	}
}

// records are the records of an event's rounds.
func (e *told) records() (list []uint64) {
	for _, n := range e.numbers["n"] {
		list = append(list, uint64(*n))
	}
	return list
}

func (l *lab) rounds(from, to uint64) {
	l.t.Helper()
	for n := from; n <= to; n++ {
		if err := l.history.Record(round(n)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// A page first gets a snapshot, then changes, and after a broken connection the changes that it
// missed.
func TestStream(t *testing.T) {
	l := newLab(t, Config{})
	l.rounds(2, 4)
	page := l.listen("")
	first := page.next()
	if first.name != "snapshot" || !slices.Equal(first.records(), []uint64{2, 3, 4}) ||
		first.Status.Run != "kitchen" || len(first.Plan.Fields) == 0 || first.Fleet == nil {
		t.Errorf("the first event: %+v", first)
	}
	for _, f := range first.Plan.Fields {
		if f.Name == "run_key" {
			t.Error("the page is told the run's key")
		}
	}
	if loss := first.numbers["loss"][2]; loss == nil || *loss != 0.25 {
		t.Errorf("the loss of record 4: %v", loss)
	}
	has := func(n uint64) func(told) bool {
		return func(e told) bool { return slices.Contains(e.records(), n) }
	}
	l.rounds(5, 5)
	list := page.until(has(5))
	last := list[len(list)-1]
	if last.name != "change" {
		t.Errorf("a round is told by %s", last.name)
	}
	page.cancel()
	l.rounds(6, 7)
	again := l.listen(last.id)
	list = again.until(has(7))
	for i := range list {
		if list[i].name != "change" {
			t.Errorf("after a break the page got a %s", list[i].name)
		}
	}
	for _, had := range []string{"x", "000000000000-1", last.id + "9", "-",
		strings.Repeat("9", 5000)} {
		if e := l.listen(had).next(); e.name != "snapshot" {
			t.Errorf("after event %.20q the page got a %s", had, e.name)
		}
	}
}

// A page gets events of devices, and the status and the plan whenever they change.
func TestStreamTellsChanges(t *testing.T) {
	l := newLab(t, Config{})
	page := l.listen("")
	page.next()
	if err := l.board.Record(report.Event{Kind: report.Lost, ID: "pi-3", N: 7}); err != nil {
		t.Fatal(err)
	}
	page.until(func(e told) bool {
		return len(e.Marks) == 1 && e.Marks[0].Text == "pi-3 is silent" && e.Marks[0].Level == "warn"
	})
	l.run.mu.Lock()
	l.run.status.State, l.run.status.Reason = "paused", "tea"
	l.run.mu.Unlock()
	page.until(func(e told) bool { return e.Status != nil && e.Status.Reason == "tea" })
	if e := l.listen("").next(); len(e.Marks) != 1 {
		t.Errorf("a later page is told %+v", e.Marks)
	}
}

// The board drops a page that reads nothing. The run and other pages do not wait for such a page.
func TestSlowReader(t *testing.T) {
	l := newLab(t, Config{})
	conn, err := net.Dial("tcp", l.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/runs/kitchen/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
	page := l.listen("")
	page.next()
	readers := func() int {
		l.board.mu.Lock()
		defer l.board.mu.Unlock()
		return len(l.board.readers)
	}
	for readers() < 2 {
		runtime.Gosched() // both join soon
	}
	big := &change{Marks: []mark{{Text: strings.Repeat("x", 1<<18)}}}
	for range 4 * mostWaiting {
		l.board.publish("change", big)
		page.until(func(e told) bool { return len(e.Marks) > 0 })
	}
	if n := readers(); n != 1 {
		t.Errorf("%d readers are left, want the one that reads", n)
	}
	l.board.mu.Lock()
	defer l.board.mu.Unlock()
	kept := 0
	for _, m := range l.board.messages {
		kept += len(m.bytes)
	}
	if kept > mostBytes {
		t.Errorf("%d bytes of messages are kept", kept)
	}
}

// The server refuses pages beyond mostStreams. When a page leaves, another page can join.
func TestManyReaders(t *testing.T) {
	l := newLab(t, Config{})
	pages := make([]*listener, mostStreams)
	for i := range pages {
		pages[i] = l.listen("")
		pages[i].next()
	}
	response, body := l.answer(l.request("GET", "/api/runs/kitchen/stream", ""))
	if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" ||
		!strings.Contains(body, "too many pages") {
		t.Errorf("one more: %s %s", response.Status, body)
	}
	l.rounds(2, 2)
	for _, page := range pages {
		page.until(func(e told) bool { return slices.Contains(e.records(), 2) })
	}
	pages[0].cancel()
	for {
		l.server.mu.Lock()
		free := l.server.streams < mostStreams
		l.server.mu.Unlock()
		if free {
			break
		}
		runtime.Gosched()
	}
	l.listen("").next()
}

// The test records rounds, reads devices, sends commands and opens pages, all at the same time.
func TestAllAtOnce(t *testing.T) {
	l := newLab(t, Config{})
	l.run.devices = fleetOf(100)
	stop, ended := make(chan struct{}), make(chan struct{}, 3)
	go func() {
		defer func() { ended <- struct{}{} }()
		for n := uint64(2); ; n++ {
			select {
			case <-stop:
				return
			default:
				_ = l.history.Record(round(n))
				_ = l.board.Record(report.Event{Kind: report.Left, ID: fmt.Sprint("pi-", n)})
			}
		}
	}()
	for range 2 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for range 20 {
				for _, r := range []*http.Request{
					l.request("GET", "/api/runs/kitchen/devices?sort=latency&order=desc", ""),
					l.request("POST", "/api/runs/kitchen/pause", "{}"),
				} {
					if response, err := http.DefaultTransport.RoundTrip(r); err == nil {
						response.Body.Close()
					}
				}
			}
		}()
	}
	for range 5 {
		page := l.listen("")
		page.next()
		page.until(func(e told) bool { return len(e.numbers) > 0 }) // more of it, or all anew
		page.cancel()
	}
	<-ended
	<-ended
	close(stop)
	<-ended
}

// fleetOf returns devices.
func fleetOf(n int) []operate.Device {
	list := make([]operate.Device, n)
	for i := range list {
		list[i] = operate.Device{ID: fmt.Sprintf("device-%05d", i), Slot: uint32(i), State: "present",
			Latency: float64((i * 7919) % n), Missed: uint32(i % 3)}
		if i%100 == 7 {
			list[i].State = "silent"
		}
	}
	return list
}
