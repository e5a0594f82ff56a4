package await

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestText: Until looks at the text after each write, and gives up after Patience.
func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Text
		lines := make(chan struct{})
		go func() {
			for range 100 {
				<-lines
				_, _ = x.Write([]byte("line\n"))
			}
		}()
		for n := range 100 {
			lines <- struct{}{}
			if !x.Until(func(text string) bool { return strings.Count(text, "\n") > n }) {
				t.Fatalf("line %d was not seen in %q", n, x.String())
			}
		}
		if !x.Says("line\nline") || x.Says("other") {
			t.Errorf("of %d bytes, the wrong ones were seen", len(x.String()))
		}
	})
}
