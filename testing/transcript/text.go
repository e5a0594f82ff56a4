package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Kinds of lines, as docs/device.md lists them.
const (
	begin   = "begin"   // a device without memory starts
	wake    = "wake"    // a device starts with what it kept
	leave   = "leave"   // its app stops it
	listen  = "sub"     // it subscribes
	hear    = "in"      // a message on a subject to which it subscribed
	ask     = "ask"     // it makes a request
	answer  = "answer"  // the answer to the request
	silence = "silence" // no answer came in time
	nobody  = "nobody"  // the broker said that nobody listens there
	say     = "out"     // it publishes
	loss    = "loss"    // it evaluates the loss
	measure = "metrics" // it measures the model
	state   = "state"   // the digest of its state
	finish  = "end"     // the run has ended for the device
)

// A line is an event, at a time since the first line.
type line struct {
	at     time.Duration
	kind   string
	fields []string
}

func (l line) String() string {
	return strings.Join(append([]string{strconv.FormatInt(l.at.Milliseconds(), 10), l.kind},
		l.fields...), " ")
}

// says is a line without its time.
func (l line) says() string { return l.kind + " " + strings.Join(l.fields, " ") }

// A head says which device a transcript is of.
type head struct {
	run, id string
	dim     int
	samples int // of the device's data
	room    int // most bytes of a message that its connection takes
	secret  []byte
	keeps   bool // it keeps its state and its last contribution when its app stops it
}

// A file is a transcript.
type file struct {
	about string // a comment
	head
	lines []line
}

func path(name string) string {
	return filepath.Join("..", "..", "client", "testdata", "transcripts", name+".txt")
}

func (f *file) write(name string) error {
	var b bytes.Buffer
	for text := range strings.Lines(strings.TrimSpace(f.about) + "\n") {
		b.WriteString("# " + text)
	}
	fmt.Fprintf(&b, "run: %s\ndevice: %s\ndim: %d\nsamples: %d\nroom: %d\n", f.run, f.id, f.dim,
		f.samples, f.room)
	if len(f.secret) > 0 {
		fmt.Fprintf(&b, "secret: %x\n", f.secret)
	}
	if f.keeps {
		b.WriteString("store: yes\n")
	}
	b.WriteByte('\n')
	for i := range f.lines {
		b.WriteString(f.lines[i].String() + "\n")
	}
	return os.WriteFile(path(name), b.Bytes(), 0o666)
}

// read reads a transcript.
func read(name string) (f file, err error) {
	text, err := os.ReadFile(path(name))
	if err != nil {
		return f, err
	}
	top, rest, ok := strings.Cut(string(text), "\n\n")
	if !ok {
		return f, fmt.Errorf("%s: no empty line after the head", name)
	}
	for row := range strings.Lines(top) {
		if err := f.set(strings.TrimSpace(row)); err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
	}
	for row := range strings.Lines(rest) {
		words := strings.Fields(row)
		if len(words) < 2 {
			return f, fmt.Errorf("%s: %q is no line", name, row)
		}
		at, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return f, fmt.Errorf("%s: %q: %w", name, row, err)
		}
		f.lines = append(f.lines, line{time.Duration(at) * time.Millisecond, words[1], words[2:]})
	}
	return f, nil
}

// set takes a row of the head.
func (f *file) set(row string) (err error) {
	if strings.HasPrefix(row, "#") {
		return nil
	}
	key, value, _ := strings.Cut(row, ": ")
	switch key {
	case "run":
		f.run = value
	case "device":
		f.id = value
	case "dim":
		f.dim, err = strconv.Atoi(value)
	case "samples":
		f.samples, err = strconv.Atoi(value)
	case "room":
		f.room, err = strconv.Atoi(value)
	case "secret":
		_, err = fmt.Sscanf(value, "%x", &f.secret)
	case "store":
		f.keeps = value == "yes"
	default:
		err = fmt.Errorf("unknown row %q", row)
	}
	return err
}
