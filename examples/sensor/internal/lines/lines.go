// Package lines writes the reports of an agent as JSON, one object a line.
package lines

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// Most is the length in bytes at which a Writer renames its file to NAME.1, and so replaces an
// earlier NAME.1. The limit exists because flash is small and agents run for years.
const Most = 4 << 20

// A Writer is a [notice.Sink]. After an error, the Writer logs the error once, and the agent
// continues.
type Writer struct {
	id   string
	log  *slog.Logger
	name string // of the file; "": only out

	mu     sync.Mutex
	out    io.Writer
	file   *os.File
	size   int64
	failed bool
}

// To writes to an open writer, for the device id.
func To(out io.Writer, id string, log *slog.Logger) *Writer {
	return &Writer{id: id, log: log, out: out}
}

// Open appends to a file, for the device id.
func Open(name, id string, log *slog.Logger) (*Writer, error) {
	w := &Writer{id: id, log: log, name: name}
	return w, w.open()
}

func (w *Writer) open() error {
	file, err := os.OpenFile(w.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("output: %w", err)
	}
	w.file, w.out, w.size = file, file, info.Size()
	return nil
}

// Forecast implements [notice.Sink].
func (w *Writer) Forecast(f notice.Forecast) {
	w.write(struct {
		Event string `json:"event"`
		ID    string `json:"id"`
		notice.Forecast
	}{"forecast", w.id, f})
}

// Unusual implements [notice.Sink].
func (w *Writer) Unusual(u notice.Unusual) {
	w.write(struct {
		Event string `json:"event"`
		ID    string `json:"id"`
		notice.Unusual
	}{"unusual", w.id, u})
}

// write writes a line in one call, so that lines do not mix if other programs write to the same
// file.
func (w *Writer) write(v any) {
	b, err := json.Marshal(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.turn(int64(len(b) + 1))
	}
	if err == nil {
		_, err = w.out.Write(append(b, '\n'))
	}
	if err != nil && !w.failed {
		w.log.Warn("forecasts are not written: trying with each", "file", w.name, "err", err)
	}
	w.failed = err != nil
}

// turn begins another file if n more bytes would make the file too long. If turn fails, the next
// call tries again.
func (w *Writer) turn(n int64) error {
	if w.name == "" {
		return nil
	}
	if w.file != nil && w.size+n > Most {
		w.file.Close()
		w.file = nil
		if err := os.Rename(w.name, w.name+".1"); err != nil {
			return err
		}
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	w.size += n
	return nil
}

// Close closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
