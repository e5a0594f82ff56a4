package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
)

// newLog returns a log for a terminal, or for journald, which adds the time itself and
// reads the priority from the start of a line.
func newLog(w io.Writer, journal bool) *slog.Logger {
	if !journal {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(priority{w}, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// toJournal reports whether standard error goes to journald, which gives a service a socket
// and sets JOURNAL_STREAM. A shell may inherit the variable without the socket.
func toJournal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && os.Getenv("JOURNAL_STREAM") != "" && info.Mode()&os.ModeSocket != 0
}

// priority puts the syslog priority before each line, according to its level.
type priority struct{ w io.Writer }

var priorities = []struct{ level, prefix []byte }{
	{[]byte("level=ERROR"), []byte("<3>")},
	{[]byte("level=WARN"), []byte("<4>")},
	{[]byte("level=INFO"), []byte("<6>")},
	{nil, []byte("<7>")},
}

func (p priority) Write(line []byte) (int, error) {
	for _, known := range priorities {
		if bytes.HasPrefix(line, known.level) {
			if _, err := p.w.Write(append(known.prefix[:3:3], line...)); err != nil {
				return 0, err
			}
			break
		}
	}
	return len(line), nil
}
