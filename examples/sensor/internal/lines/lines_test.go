package lines

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

func listen() (*slog.Logger, *strings.Builder) {
	b := &strings.Builder{}
	return slog.New(slog.NewTextHandler(b, nil)), b
}

// TestLines: each event is a line of JSON, whose fields the README has.
func TestLines(t *testing.T) {
	log, told := listen()
	var out strings.Builder
	w := To(&out, "kitchen", log)
	at := time.Unix(0, 0).UTC()
	w.Forecast(notice.Forecast{Channel: "temperature", Unit: "°C", At: at, Reading: 20.5,
		For: at.Add(30 * time.Minute), Value: 20.25, Deviation: 0.125, Record: 7})
	w.Unusual(notice.Unusual{Channel: "temperature", Unit: "°C", At: at, Reading: 5, Forecast: 20,
		Deviations: 12})
	want := `{"event":"forecast","id":"kitchen","channel":"temperature","unit":"°C",` +
		`"time":"1970-01-01T00:00:00Z","reading":20.5,"for":"1970-01-01T00:30:00Z","value":20.25,` +
		`"deviation":0.125,"record":7}` + "\n" +
		`{"event":"unusual","id":"kitchen","channel":"temperature","unit":"°C",` +
		`"time":"1970-01-01T00:00:00Z","reading":5,"forecast":20,"deviations":12,"over":false}` + "\n"
	if out.String() != want || told.Len() > 0 {
		t.Errorf("wrote\n%s\nlogged %s, want\n%s", &out, told, want)
	}
}

// TestTurn: a file and the one before it have at most Most bytes each, and whole lines.
func TestTurn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "forecasts.jsonl")
	log, told := listen()
	w, err := Open(name, strings.Repeat("x", 1<<20), log)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(12) {
		w.Forecast(notice.Forecast{Record: i})
		if i == 5 { // as an agent that starts again
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if w, err = Open(name, strings.Repeat("x", 1<<20), log); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil || told.Len() > 0 {
		t.Errorf("%v, logged %.200s", err, told)
	}
	next := uint64(6)
	for _, file := range []string{name + ".1", name} {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if info, err := in.Stat(); err != nil || info.Size() > Most {
			t.Errorf("%s: %d bytes, %v", file, info.Size(), err)
		}
		for d := json.NewDecoder(in); ; next++ {
			var f notice.Forecast
			if err := d.Decode(&f); err == io.EOF {
				break
			} else if err != nil || f.Record != next {
				t.Fatalf("%s: record %d, %v, want %d", file, f.Record, err, next)
			}
		}
	}
	if next != 12 {
		t.Errorf("lines up to %d, want 12", next)
	}
}

// TestFails: what cannot be written is told once, and is written again when it can be.
func TestFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "forecasts.jsonl")
	log, told := listen()
	w, err := Open(name, "a", log)
	if err != nil {
		t.Fatal(err)
	}
	w.size = Most
	if err := os.Mkdir(name+".1", 0o700); err != nil { // in the way of the next file
		t.Fatal(err)
	}
	for range 3 {
		w.Forecast(notice.Forecast{})
	}
	if n := strings.Count(told.String(), "not written"); n != 1 {
		t.Errorf("logged %d times: %s", n, told)
	}
	if err := os.Remove(name + ".1"); err != nil {
		t.Fatal(err)
	}
	w.Forecast(notice.Forecast{Channel: "b"})
	if b, err := os.ReadFile(name); err != nil || !strings.Contains(string(b), `"b"`) {
		t.Errorf("%s, %v", b, err)
	}
}
