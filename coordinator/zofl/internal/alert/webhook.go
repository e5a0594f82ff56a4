package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// postWithin bounds a request to a webhook.
const postWithin = 10 * time.Second

// ReadURL returns the address of a webhook: text itself, or with @FILE the first line of a file.
// Whoever knows the address may write there, so errors do not repeat it.
func ReadURL(text string) (string, error) {
	if name, isFile := strings.CutPrefix(text, "@"); isFile {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		text, _, _ = strings.Cut(string(b), "\n")
		text = strings.TrimSpace(text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("give the http or https address of a webhook, or @FILE, a file with it")
	}
	return text, nil
}

// webhook posts alerts as JSON.
func webhook(address string) sender {
	client := &http.Client{Timeout: postWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, a *Alert) error {
		body, err := json.Marshal(a)
		if err != nil {
			return finalError{err}
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
		if err != nil {
			return finalError{withoutAddress("webhook", err)}
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "zofl/"+version.String())
		answer, err := client.Do(r)
		if err != nil {
			return withoutAddress(r.URL.Host, err)
		}
		defer answer.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return answered(r.URL.Host, answer, strings.TrimSpace(string(said)))
	}
}

// withoutAddress drops the address from an error of the client: its path may be a secret.
func withoutAddress(host string, err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", host, err)
}

// answered returns an error for an answer that is not a success. Only an overloaded or failing
// server may take the alert later.
func answered(host string, answer *http.Response, said string) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s answers %s", host, answer.Status)
	if said != "" {
		err = fmt.Errorf("%w: %q", err, said)
	}
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode/100 != 5 &&
		answer.StatusCode != http.StatusRequestTimeout {
		return finalError{err}
	}
	if seconds, bad := strconv.Atoi(answer.Header.Get("Retry-After")); bad == nil {
		return laterError{err, time.Duration(seconds) * time.Second}
	}
	return err
}
