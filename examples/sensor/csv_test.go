package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
)

func TestRows(t *testing.T) {
	cfg := configOf(t, "channel = humidity from=rh factor=0.5")
	for _, c := range []struct{ header, row, want string }{
		{"time,temperature,rh", "2026-01-31T12:00:00Z,20.5,80", "1769860800 20.5 40"},
		{"rh;time;temperature", `80;"2026-01-31 12:00:00"; 20.5`, "1769860800 20.5 40"},
		{"time\ttemperature", "1769860800.5\t-3e1", "1769860800.5 -30 NaN"},
		{"time,temperature,rh", "1769860800,,nan", "1769860800 NaN NaN"},
		{"time,temperature,rh", "1769860800", "1769860800 NaN NaN"},
		{"time,temperature,rh", "yesterday,20,80", `time "yesterday"`},
		{"time,temperature,rh", "9e99,20,80", `time "9e99"`},
		{"rh,temperature,time", "80,20", "2 columns"},
		{"time;temperature;rh", "1769860800;-20,5;1.013,25", "1769860800 -20.5 506.625"},
		{"time;temperature;rh", "1769860800,5;+1,5e1;80.5", "1769860800.5 15 40.25"},
		{"time;temperature;rh", "1769860800;20,5,5;1.01,5", "1769860800 NaN NaN"},
		{"time,temperature,rh", "1769860800,20,50,80,25", "5 columns, and the header names 3"},
		{"time,temperature,rh", "1769860800,20,80,,", "1769860800 20 40"},
		{"time,note,temperature,rh", `1769860800,"wet, cold",20,80`, "1769860800 20 40"},
		{"time,temperature,rh", `1769860800,"20,5",80`, "1769860800 20.5 40"},
		{"time,temperature,rh", `1769860800,"1,013.25","1,013"`, "1769860800 1013.25 NaN"},
		{"time\ttemperature\trh", "1769860800\t20,5\t1.013,25", "1769860800 20.5 506.625"},
		{"time;temperature;rh", "1769860800;1'013,25;1 013,25", "1769860800 1013.25 506.625"},
		{"time;temperature;rh", "1769860800;1\u00a0013,25;1,013.25", "1769860800 1013.25 506.625"},
		{"time;temperature;rh", "1769860800;1.013.250;1,013,250", "1769860800 1.01325e+06 506625"},
		{"time;temperature;rh", "1769860800;1.01.2;1,5.5", "1769860800 NaN NaN"},
		{"time;temperature;rh", "1769860800;1.013'5,2;20,", "1769860800 NaN 10"},
		{"time;temperature;rh", "1769860800;Inf;-inf", "1769860800 NaN NaN"},
		{"time;temp, inside;temperature;out, rh;rh", "1769860800;1;2;3;4", "1769860800 2 2"},
		{"a, b, c, d\ttime\ttemperature\trh", "1\t1769860800\t2\t4", "1769860800 2 2"},
		{"time,temperature,rh", `1769860800,20",80`, "1769860800 20 40"},
		{"\xff\xfet\x00i\x00m\x00e\x00", "", "UTF-16"},
		{"date,temperature", "", `set time`},
		{"time|temperature", "", `semicolons or tabs separate`},
	} {
		got := ""
		h, err := readHeader(c.header, cfg)
		if err == nil {
			var r reading
			if r, err = h.row(c.row); err == nil {
				got = fmt.Sprint(float64(r.time.UnixNano())/1e9) + fmt.Sprintf(" %v %v",
					r.values[0], r.values[1])
				got = strings.Replace(got, "1.7698608e+09", "1769860800", 1)
				got = strings.Replace(got, "1.7698608005e+09", "1769860800.5", 1)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q, %q: %s, want %s", c.header, c.row, got, c.want)
		}
	}
}

// replayed returns the readings of a file, and the pauses that the source made between
// them.
func replayed(t *testing.T, text string, lines ...string) (got []reading, pauses []time.Duration,
	told string, err error) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, said := listen()
	cfg := configOf(t, append(lines, "source = replay "+path)...)
	s := newSheet(cfg, log, newStation(cfg))
	s.pause = func(_ context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return nil
	}
	out, ended := make(chan reading), make(chan error)
	go func() { ended <- s.run(t.Context(), out) }()
	for {
		select {
		case r := <-out:
			got = append(got, r)
		case err := <-ended:
			return got, pauses, said.String(), err
		}
	}
}

func TestReplay(t *testing.T) {
	text := "time,temperature\n0,1\n60,2\nnonsense,9\nmore,9\n180,3\n100,4\n"
	got, pauses, told, err := replayed(t, text, "source = speed=60")
	if err != nil || len(got) != 4 || got[2].values[0] != 3 {
		t.Fatalf("%v, error %v", got, err)
	}
	if fmt.Sprint(pauses) != "[1s 2s]" {
		t.Errorf("pauses %v, want 1 s and 2 s", pauses)
	}
	if strings.Count(told, "cannot be read") != 1 {
		t.Errorf("logged %q, want bad rows logged once", told)
	}
	if _, pauses, _, _ = replayed(t, text); len(pauses) != 0 {
		t.Errorf("pauses %v with speed 0, want none", pauses)
	}
}

func TestFileWithoutChannel(t *testing.T) {
	got, _, told, err := replayed(t, "time,hum\n0,1\n")
	if err != nil || len(got) != 1 || !math.IsNaN(got[0].values[0]) ||
		!strings.Contains(told, "channel=temperature") || !strings.Contains(told, "set from") {
		t.Errorf("%v, told %q, error %v", got, told, err)
	}
	if _, _, _, err := replayed(t, "temperature\n1\n"); err == nil ||
		!strings.Contains(err.Error(), "set time") {
		t.Errorf("%v, want an error that says what to set", err)
	}
}

// TestNumberlessColumn checks that the agent logs a column once, with its first value, if no
// value of the column is a number. The agent does not log a value that is missing now and then.
func TestNumberlessColumn(t *testing.T) {
	for _, c := range []struct {
		text string
		told int
	}{
		{"time\ttemperature\n0\t20,00\n60\t20,50\n", 0},
		{"time\ttemperature\n0\t20 °C\n60\t20 °C\n", 1},
		{"time,temperature\n0,20 °C\n60,21 °C\n", 1},
		{"time,temperature\n0,\"20,00\"\n60,20\n", 0},
		{"time,temperature\n0,\n60,20\n120,off\n", 0},
		{"time;temperature\n0;20,00\n60;off\n", 0},
		{"time,temperature\n0,nan\n", 0},
	} {
		got, _, told, err := replayed(t, c.text)
		if err != nil || len(got) < 1 || strings.Count(told, "no number") != c.told ||
			c.told > 0 && !strings.Contains(told, "20") {
			t.Errorf("%q: %d readings, told %q, error %v", c.text, len(got), told, err)
		}
	}
}

// TestNumbersBecomeOdd checks that the agent logs a column once in which numbers are followed by
// values that have digits and are no numbers.
func TestNumbersBecomeOdd(t *testing.T) {
	text := "time,temperature\n0,20\n60,\"1,013\"\n120,\"1,014\"\n180,off\n"
	got, _, told, err := replayed(t, text)
	if err != nil || len(got) != 4 || strings.Count(told, "no number") != 1 ||
		!strings.Contains(told, `1,013`) {
		t.Errorf("%d readings, told %q, error %v", len(got), told, err)
	}
}

// TestThousands checks that 1.013 is a thousand and thirteen in a column that has had a decimal
// comma, and in no other column.
func TestThousands(t *testing.T) {
	got, _, _, err := replayed(t, "time;temperature;rh\n0;1.013,5;1.013\n60;1.013;1.013\n",
		"channel = rh")
	if err != nil || len(got) != 2 || fmt.Sprint(got[0].values) != "[1013.5 1.013]" ||
		fmt.Sprint(got[1].values) != "[1013 1.013]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSeparatorLine checks that the line with which Excel names the separator is no header.
func TestSeparatorLine(t *testing.T) {
	got, _, told, err := replayed(t, "\ufeffsep=;\r\ntime;temperature\r\n0;20,5\r\n")
	if err != nil || len(got) != 1 || got[0].values[0] != 20.5 || told != "" {
		t.Errorf("%v, told %q, error %v", got, told, err)
	}
}

// TestDecimalCommasAmongCommas checks rows in which commas separate columns and numbers have
// decimal commas. The agent must log such a row, and must not take a part of a number for the
// whole number.
func TestDecimalCommasAmongCommas(t *testing.T) {
	got, _, told, err := replayed(t, "time,temperature\n0,20,50\n60,21,50\n")
	if err != nil || len(got) != 0 || strings.Count(told, "put ; between columns") != 1 {
		t.Errorf("%v, told %q, error %v", got, told, err)
	}
}

// TestComments checks that lines that begin with # are no rows, and that a header may begin with
// #.
func TestComments(t *testing.T) {
	s := newSheet(configOf(t), quiet, newStation(configOf(t)))
	for _, line := range []struct {
		text      string
		first, ok bool
	}{{"\ufeff# made by a logger", true, false}, {"time,temperature", false, false},
		{"0,1", false, true}, {"# restarted", false, false}, {"60,2", false, true},
		{"# another file", true, false},
		{"temperature,time", false, false}, {"3,120", false, true},
		{"\ufeff# time,temperature", true, false}, {"180,4", false, true}} {
		r, ok, err := s.parse(line.text, line.first)
		if err != nil || ok != line.ok || ok && r.values[0] != float64(r.time.Unix()/60+1) {
			t.Errorf("%q: %v %v %v", line.text, r, ok, err)
		}
	}
}

// A logger may begin a new file without a header.
func TestHeaderIsKept(t *testing.T) {
	s := newSheet(configOf(t), quiet, newStation(configOf(t)))
	for _, line := range []struct {
		text      string
		first, ok bool
	}{{"time,temperature", true, false}, {"0,1", false, true}, {"60,2", true, true},
		{"temperature,time", true, false}, {"3,120", false, true}} {
		r, ok, err := s.parse(line.text, line.first)
		if err != nil || ok != line.ok || ok && r.values[0] != float64(r.time.Unix()/60+1) {
			t.Errorf("%q: %v %v %v", line.text, r, ok, err)
		}
	}
}

// A growing file may get its header late: it was torn, or its logger has yet to begin
// another file. Until then the agent continues with its window.
func TestHeaderIsWaitedFor(t *testing.T) {
	log, told := listen()
	s := newSheet(configOf(t), log, newStation(configOf(t)))
	for _, line := range []struct {
		text      string
		first, ok bool
	}{{"0,1", true, false}, {"60,2", false, false}, {"time,temperature", false, false},
		{"120,3", false, true}} {
		if _, ok, err := s.parse(line.text, line.first); err != nil || ok != line.ok {
			t.Errorf("%q: %v %v, want %v", line.text, ok, err, line.ok)
		}
	}
	if strings.Count(told.String(), "header") != 2 { // in the message and in its error
		t.Errorf("logged %s, want it once", told)
	}
}

// A damaged file does not fill the journal.
func TestLongRowsAreToldBriefly(t *testing.T) {
	for _, text := range []string{strings.Repeat("y", 60000), "time\n" + strings.Repeat("z", 60000)} {
		_, _, told, err := replayed(t, text)
		if len(told)+len(fmt.Sprint(err)) > 1000 {
			t.Errorf("logged %d bytes, and an error of %d", len(told), len(fmt.Sprint(err)))
		}
	}
}

// take passes a sheet's readings to a station, until the sheet's pause ends it.
func take(t *testing.T, s *sheet, st *station) {
	t.Helper()
	for {
		r, err := s.next(t.Context())
		if errors.Is(err, errDone) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		st.add(r)
	}
}

// Damaged rows, or a clock with an empty battery, give times that are years ahead. They
// must not make all other rows old, nor empty the window. If the logger's clock was wrong
// for long, the window is right again after clockSlots slots.
func TestRowsFromTheFuture(t *testing.T) {
	path := configtest.File(t, "")
	log, told := listen()
	cfg := configOf(t, "source = csv "+path)
	st := newStation(cfg)
	s := newSheet(cfg, log, st)
	now, step := at("2026-01-31T12:00:00Z"), 0
	row := func(at time.Time) string { return fmt.Sprintf("%d,20\n", at.Unix()) }
	rows := func(n int) (text string) {
		for range n {
			now = now.Add(cfg.Period)
			text += row(now)
		}
		return text
	}
	far := func(n int) (text string) {
		for i := range n {
			text += row(now.AddDate(70, 0, 0).Add(time.Duration(i) * cfg.Period))
		}
		return text
	}
	steps := []string{"time,temperature\n" + rows(20), far(1) + rows(20),
		far(clockSlots) + rows(20), far(clockSlots + 2), rows(clockSlots + 20)}
	held := []int{19, 39, 59, 1, 19}
	s.pause = func(context.Context, time.Duration) error {
		if step > 0 && st.window.held != held[step-1] {
			t.Errorf("step %d: %d slots held, want %d", step, st.window.held, held[step-1])
		}
		if step == len(steps) {
			return errDone
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(steps[step])
			err = errors.Join(err, file.Close())
		}
		step++
		return err
	}
	take(t, s, st)
	if strings.Count(told.String(), "does not fit") != 4 ||
		strings.Count(told.String(), "stays behind") != 1 {
		t.Errorf("told %s", told)
	}
}

// After a restart the agent reads a file again, and the window keeps its readings.
func TestFileIsReadAgain(t *testing.T) {
	text := "time,temperature\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,20\n", i*300)
	}
	path := configtest.File(t, text)
	log, told := listen()
	cfg := configOf(t, "source = csv "+path)
	st := newStation(cfg)
	put(st, 40, make([]float64, 30)...)
	s := newSheet(cfg, log, st)
	s.pause = func(context.Context, time.Duration) error { return errDone }
	take(t, s, st)
	if st.window.last != 98 || st.window.first() != 40 || told.Len() > 0 {
		t.Errorf("slots %d to %d, told %s", st.window.first(), st.window.last, told)
	}
}
