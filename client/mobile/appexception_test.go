package mobile

import (
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
)

// The error of an exception of the app has class, message and stack. The result of reason has only
// the message.
func TestThrown(t *testing.T) {
	for _, tt := range []struct{ text, said, reason string }{
		{"", "an exception without a message", "an exception without a message"},
		{"plain", "plain", "plain"},
		{"one\x1fsign", "one\x1fsign", "one\x1fsign"},
		{"java.lang.AssertionError\x1fwant 3\x1f\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n",
			"java.lang.AssertionError: want 3\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)", "want 3"},
		{"java.lang.StackOverflowError\x1f\x1f\tat a.B.c(B.java:1)\n",
			"java.lang.StackOverflowError\n\tat a.B.c(B.java:1)", "java.lang.StackOverflowError"},
		{"a.E\x1fm\x1f", "a.E: m", "m"},
	} {
		err := errors.New(tt.text)
		if got := said(err).Error(); got != tt.said {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.said)
		}
		if got := reason(err).Error(); got != tt.reason {
			t.Errorf("%q has the reason %q, want %q", tt.text, got, tt.reason)
		}
		if strings.Count(tt.text, throwSign) == 2 && !errors.Is(said(err), err) {
			t.Errorf("%q is no longer the binding's error", tt.text)
		}
	}
	if said(nil) != nil || reason(nil) != nil {
		t.Error("nil is an error")
	}
	if err := said(objective.ErrRevoked); err != objective.ErrRevoked {
		t.Errorf("an error of this library that an app passes on is %v", err)
	}
}

// The library shortens a text of megabytes before it passes the text to the app.
func TestLongTexts(t *testing.T) {
	text := coded(errors.New(strings.Repeat("é", 1<<20))).Error()
	if len(text) > maxText+100 || !strings.HasSuffix(text, "...") ||
		strings.Count(text, "\uFFFD") > 1 {
		t.Errorf("%d bytes that end in %q", len(text), text[len(text)-20:])
	}
}
