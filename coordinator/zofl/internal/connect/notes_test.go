package connect

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestErrorsAreRationed: of any number of errors, a few are logged each minute, and a count.
func TestErrorsAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log await.Text
		var o nats.Options
		err := ErrorHandler("b", slog.New(slog.NewTextHandler(&log, nil)))(&o)
		if err != nil {
			t.Fatal(err)
		}
		report := func(text string) { o.AsyncErrorCB(nil, nil, fmt.Errorf("nats: %s", text)) }
		said := func(parts ...string) {
			t.Helper()
			synctest.Wait()
			for _, part := range parts {
				if !strings.Contains(log.String(), part) {
					t.Fatalf("no %q in %q", part, log.String())
				}
			}
		}
		for range 1000 {
			report("the same")
		}
		said("the same")
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines for one error", n)
		}
		for i := range 1000 {
			report(fmt.Sprint("another ", i))
		}
		if n := strings.Count(log.String(), "\n"); n != mostNotes {
			t.Errorf("%d lines in the first minute", n)
		}
		time.Sleep(countEvery)
		said(fmt.Sprint("more=", 2000-mostNotes), `last="nats: another 999"`)
		report("the next minute")
		said("the next minute")
		time.Sleep(2 * countEvery)
		if n := strings.Count(log.String(), "\n"); n != mostNotes+2 {
			t.Errorf("%d lines after all: %s", n, log.String())
		}
	})
}
