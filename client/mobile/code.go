package mobile

import "strings"

// Codes say what kind of error it is. Each error of this package begins with a code and ": ", and
// [Listener].OnFault gets the code separately. Codes never change; the text behind them may.
// [ErrorCode] extracts the code from a message.
const (
	CodeConfig      = "config"      // a setting that cannot be used
	CodeInsecure    = "insecure"    // plaintext to an address other than loopback
	CodeCredentials = "credentials" // a text that is not NATS credentials
	CodePermission  = "permission"  // the server denies this user a subject
	CodeRefused     = "refused"     // the coordinator does not let this device join
	CodeDim         = "dim"         // the plan has another number of parameters
	CodeInitial     = "initial"     // the plan has other initial parameters
	CodePlan        = "plan"        // a plan that this version cannot follow, or a refused one
	CodeRunKey      = "runkey"      // the secret of a private run is missing or wrong
	CodeUpgrade     = "upgrade"     // the run needs a later version of this library
	CodeRunning     = "running"     // Run was called while it runs
	CodeStopped     = "stopped"     // Stop was called before
	CodeLocked      = "locked"      // another client uses the StateDir
	CodeStore       = "store"       // the StateDir cannot be used
	CodeRevoked     = "revoked"     // the callback that this object was made for is over
	CodePanic       = "panic"       // a bug in this library: please report it
	CodeFault       = "fault"       // anything else

	// Codes that only OnFault receives, but for CodeLoss: the run continues.
	CodeOffline      = "offline"      // no server can be reached
	CodeQuiet        = "quiet"        // no coordinator answers: the run has none yet, or none now
	CodeTLS          = "tls"          // the server offers no TLS, or its certificate is not trusted
	CodeUnauthorized = "unauthorized" // the server does not know this user
	CodeLoss         = "loss"         // the objective failed, or its loss is not finite
	CodeTime         = "time"         // a round is too short for this device
	CodeBusy         = "busy"         // an earlier callback has not returned
	CodePolicy       = "policy"       // power or network do not meet the Config, or Consent refuses
	CodeDiverged     = "diverged"     // the state differs from the run's and is rebuilt
)

var codes = map[string]bool{
	CodeConfig: true, CodeInsecure: true, CodeCredentials: true, CodePermission: true,
	CodeRefused: true, CodeDim: true, CodeInitial: true, CodePlan: true, CodeRunKey: true,
	CodeUpgrade: true, CodeRunning: true, CodeStopped: true, CodeLocked: true, CodeStore: true,
	CodeRevoked: true, CodePanic: true, CodeFault: true,
	CodeOffline: true, CodeQuiet: true, CodeTLS: true, CodeUnauthorized: true, CodeLoss: true,
	CodeTime: true, CodeBusy: true, CodePolicy: true, CodeDiverged: true,
}

// ErrorCode returns the code that an error's message begins with, or "" if the error is not
// from this package.
func ErrorCode(message string) string {
	code, _, found := strings.Cut(message, ": ")
	if !found || !codes[code] {
		return ""
	}
	return code
}
