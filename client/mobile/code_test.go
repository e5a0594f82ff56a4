package mobile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Every error that somebody can remedy has its code, however it is wrapped. No message names a
// package of this library.
func TestCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code string
	}{
		{bus.ErrPermission, CodePermission},
		{bus.ErrOffline, CodeOffline},
		{client.ErrRefused, CodeRefused},
		{replica.ErrDim, CodeDim},
		{replica.ErrInitial, CodeInitial},
		{replica.ErrForeign, CodeStore},
		{&plan.Error{Field: "Steps"}, CodePlan},
		{plan.ErrRunKey, CodeRunKey},
		{wire.ErrUpgrade, CodeUpgrade},
		{client.ErrRunning, CodeRunning},
		{client.ErrStoreLocked, CodeLocked},
		{client.ErrStore, CodeStore},
		{objective.ErrRevoked, CodeRevoked},
		{client.ErrDiverged, CodeDiverged},
		{client.ErrConfig, CodeConfig},
		{faultf(CodeInsecure, "no"), CodeInsecure},
		{panicked("oh"), CodePanic},
		{errUnmade, CodeConfig},
		{bus.ErrClosed, CodeFault},
		{bus.ErrNoResponders, CodeQuiet},
		{client.ErrQuiet, CodeQuiet},
		{errors.New("anything else"), CodeFault},
	} {
		for depth, err := range []error{
			tt.err,
			fmt.Errorf("client: %w", tt.err),
			fmt.Errorf("client: join: %w", fmt.Errorf("request: %w", tt.err)),
			errors.Join(tt.err, io.EOF),
		} {
			got := coded(err)
			text := got.Error()
			if ErrorCode(text) != tt.code || codeOf(err) != tt.code {
				t.Errorf("%v, wrapped %d times: %q, want code %q", tt.err, depth, text, tt.code)
			}
			if strings.Contains(text, "client: ") || strings.Contains(text, "replica: ") ||
				strings.Contains(text, "objective: ") || strings.HasPrefix(text, tt.code+": "+tt.code+": ") {
				t.Errorf("%v, wrapped %d times: the app gets %q", tt.err, depth, text)
			}
			if !errors.Is(got, tt.err) {
				t.Errorf("%q is no longer %v", text, tt.err)
			}
			if again := coded(got); again.Error() != text {
				t.Errorf("coded twice: %q, then %q", text, again)
			}
		}
	}
	if coded(nil) != nil {
		t.Error("nil got a code")
	}
}

// ErrorCode returns "" for a message that does not begin with a code of this package.
func TestErrorCode(t *testing.T) {
	for message, want := range map[string]string{
		"": "", "config": "", "config:": "", "config:x": "", "Config: x": "", "nonsense: x": "",
		"java.lang.Error: config: x": "",

		"config: x": CodeConfig, "offline: nats: timeout": CodeOffline, "diverged: ": CodeDiverged,
	} {
		if got := ErrorCode(message); got != want {
			t.Errorf("ErrorCode(%q) = %q, want %q", message, got, want)
		}
	}
	for code := range codes {
		if ErrorCode(code+": text") != code {
			t.Errorf("%q is not recognized as a code", code)
		}
	}
	if len(codes) != 26 {
		t.Errorf("%d codes, want the 26 that are documented", len(codes))
	}
}

// The code of a failed connection tells an app what to do: wait, or have somebody check
// certificates or users.
func TestConnectCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code string
	}{
		{nats.ErrAuthorization, CodeUnauthorized},
		{nats.ErrAuthExpired, CodeUnauthorized},
		{nats.ErrAuthRevoked, CodeUnauthorized},
		{nats.ErrAccountAuthExpired, CodeUnauthorized},
		{nats.ErrNkeysNotSupported, CodeUnauthorized},
		{nats.ErrPermissionViolation, CodePermission},
		{nats.ErrSecureConnWanted, CodeTLS},
		{nats.ErrSecureConnRequired, CodeTLS},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, CodeTLS},
		{tls.RecordHeaderError{Msg: "no TLS"}, CodeTLS},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, CodeTLS},
		{faultf(CodeInsecure, "no"), CodeInsecure},
		{nats.ErrNoServers, CodeOffline},
		{nats.ErrTimeout, CodeOffline},
		{io.EOF, CodeOffline},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, CodeOffline},
		{&net.DNSError{Err: "no such host"}, CodeOffline},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("nats: %w", tt.err)} {
			if got := connectCode(err); got != tt.code {
				t.Errorf("%v: %q, want %q", err, got, tt.code)
			}
		}
	}
}

// Every reason to decline a round has a code.
func TestDeclineCodes(t *testing.T) {
	for reason := wire.DeclinePolicy; reason <= wire.DeclineTooLarge; reason++ {
		if !codes[declines[reason]] {
			t.Errorf("%v has code %q", reason, declines[reason])
		}
	}
}

// A panic becomes an error that says where it happened.
func TestGuard(t *testing.T) {
	fails := func(f func()) (err error) {
		defer guard(&err)
		f()
		return nil
	}
	if err := fails(func() {}); err != nil {
		t.Errorf("without a panic: %v", err)
	}
	var nothing *Config
	for name, f := range map[string]func(){
		"a text": func() { panic("oh") }, "an error": func() { panic(io.EOF) },
		"a nil": func() { _ = nothing.Run },
	} {
		err := fails(f)
		if err == nil || ErrorCode(err.Error()) != CodePanic ||
			!strings.Contains(err.Error(), "code_test.go") {
			t.Errorf("%s: %v, want code %q and the place", name, err, CodePanic)
		}
	}
}

// The app gets texts from a server as valid UTF-8.
func TestTextsAreUTF8(t *testing.T) {
	told := &listener{}
	c := Client{events: events{listener: told}}
	c.tellFault(CodeOffline, "no\xff")
	c.tellState("why\xff")
	c.events.settle(patience)
	texts := append(told.heard(), faultf(CodeFault, "%s", "bad\xff").Error(),
		coded(errors.New("bad\xff")).Error())
	for _, text := range texts {
		if !utf8.ValidString(text) || !strings.Contains(text, "\uFFFD") {
			t.Errorf("%q is not UTF-8 with a replacement character", text)
		}
	}
	if len(texts) != 4 {
		t.Errorf("%q, want four texts", texts)
	}
}
