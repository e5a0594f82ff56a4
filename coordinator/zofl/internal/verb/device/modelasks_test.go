package device

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
)

// A lockedBuffer takes events from several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
	ch chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.ch <- struct{}{} }()
	return l.b.Write(p)
}

// TestModelAsks: lines that ask for the model are taken out, whatever the length of the lines
// between them, and each is answered, also while there is no client.
func TestModelAsks(t *testing.T) {
	long := "loss " + strings.Repeat("1.25 ", 1000)
	told := &lockedBuffer{ch: make(chan struct{}, 3)}
	text := "model /a b\nloss 1\n" + long + "\nmodel /c\nmodels\nmodel /d\r\nloss 2"
	asks := &modelAsks{in: bufio.NewReaderSize(strings.NewReader(text), 64), told: told}
	rest, err := io.ReadAll(asks)
	if want := "loss 1\n" + long + "\nmodels\nloss 2"; err != nil || string(rest) != want {
		t.Errorf("got %q, %v", rest, err)
	}
	for range 3 {
		<-told.ch
	}
	for _, path := range []string{"/a b", "/c", "/d"} {
		if want := `{"event":"model","n":0,"path":"` + path + `"}`; !strings.Contains(
			told.b.String(), want) {
			t.Errorf("no %s in %s", want, told.b.String())
		}
	}
}
