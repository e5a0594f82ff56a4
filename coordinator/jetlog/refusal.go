package jetlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// remedies are texts by error code of the server. Each text says what an operator can change, in
// the server, the account or zofl's flags, so that the server accepts the request. (nats.go has no
// names for most of these codes.)
var remedies = map[jetstream.ErrorCode]string{
	10002: "raise max_file of the account, or delete streams of the account that nobody needs",
	10023: "the server's JetStream is full: raise max_file of its jetstream block, or delete " +
		"streams that nobody needs",
	10026: "raise max_consumers of the account",
	10027: "raise max_streams of the account: a run needs 5, and 6 with transport=dense",
	10047: "raise the storage of the account, or of the servers, or lower --max-bytes, which each " +
		"of a run's 5 or 6 streams reserves",
	10054: "raise the stream's max_msg_size",
	10060: "remove the other stream that listens to the subject",
	10065: "remove the other stream that listens to the subject, or give the run another name",
	10074: "give --replicas 1, or the address of a cluster",
	10077: "raise the limit of the stream that the error names, such as max_bytes; if it names " +
		"none, see the server's log: its disk fails or is full",
	10109: "the stream is sealed for good: copy the log to a stream that zofl makes",
	10113: "give --max-bytes, such as --max-bytes 64MiB, which each of a run's streams then has",
	10122: "give a --max-bytes that is at most the account's limit for a stream",
}

// errDenied: the broker denies this user a subject that a log needs.
var errDenied = errors.New("denied by the broker's permissions")

// remedy returns a suffix to an error's text that says what to do, or "".
func remedy(err error) string {
	var api *jetstream.APIError
	switch {
	case !errors.As(err, &api):
		return ""
	case remedies[api.ErrorCode] != "":
		return ": " + remedies[api.ErrorCode]
	case api.ErrorCode == invalidConfig && strings.Contains(api.Description, "duplicates window"):
		return ": raise duplicate_window of the limits in the server's jetstream block to 2m"
	}
	return ""
}

// hopeless says that the broker would now refuse the same message again.
func hopeless(err error) bool {
	return remedy(err) != "" || errors.Is(err, nats.ErrMaxPayload) || errors.Is(err,
		nats.ErrConnectionClosed)
}

// refused adds to an error the part of the log that it concerns, and what to do. The result matches
// [runlog.ErrConfig] if the call would also fail later.
func refused(part string, err error) error {
	switch {
	case err == nil, errors.Is(err, runlog.ErrConfig), errors.Is(err, runlog.ErrCorrupt):
		return err
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: the account of this user has no JetStream: enable it for the account, "+
			"or connect as a user of one that has it (%w)", runlog.ErrConfig, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("%w: the broker has no JetStream: give it a jetstream block with a "+
			"store_dir (%w)", runlog.ErrConfig, err)
	case errors.Is(err, errDenied):
		return fmt.Errorf("%w: %s: %w", runlog.ErrConfig, part, err)
	case remedy(err) != "":
		return fmt.Errorf("%w: %s: %w%s", runlog.ErrConfig, part, err, remedy(err))
	case final(err):
		return fmt.Errorf("%w: %s: the broker refuses it: %w", runlog.ErrConfig, part, err)
	}
	return fmt.Errorf("%s: %w", part, err)
}

// noPeers: a cluster has too few servers for a stream, perhaps because some servers have not
// started yet.
const noPeers = 10005

// invalidConfig: the configuration of a stream is none that the server takes. The description says
// why. A server's own limits may be the cause.
const invalidConfig = 10052

// final says that the server will refuse the same request each time.
func final(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.Code == 400 && api.ErrorCode != noPeers ||
		api.ErrorCode == invalidConfig)
}

// denied returns an error if the broker does not let this user publish to JetStream, or receive
// JetStream's answers. The broker does not answer such a request. The broker reports the denial as
// an error of the connection.
func denied(nc *nats.Conn, cause error) error {
	last := nc.LastError()
	if !transient(cause) || !errors.Is(last, nats.ErrPermissionViolation) {
		return nil
	}
	for _, subject := range []string{`"$JS.`, `"$KV.`, `"$O.`, `"zo.`, `"_INBOX`} {
		if strings.Contains(last.Error(), subject) {
			return fmt.Errorf("%w: the user needs what `zofl permissions --role coordinator "+
				"--jetstream` lists (%w)", errDenied, last)
		}
	}
	return nil
}

// transient says that the same call may succeed later, because servers are restarting or electing a
// leader.
func transient(err error) bool {
	if silent(err) {
		return true
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503 &&
		api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled &&
		api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
}

// apiTimeout is how long servers themselves take at most for an answer.
const apiTimeout = 5 * time.Second

// patiently repeats f until its error is not transient, or ctx ends, or the broker denies what f
// does. If no server answered, the error matches [runlog.ErrUnavailable].
func patiently(ctx context.Context, nc *nats.Conn, f func(context.Context) error) error {
	var wait backoff
	for {
		once, cancel := context.WithTimeout(ctx, apiTimeout)
		err := f(once)
		cancel()
		if denial := denied(nc, err); denial != nil {
			return denial
		}
		if err == nil || !transient(err) || !wait.sleep(ctx) {
			return unheard(nc, err)
		}
	}
}
