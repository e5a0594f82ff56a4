package mobile

import "strings"

// Codes say what an error is about. Each error of this package begins with one of
// them and ": ", and [Listener].OnFault gets one by itself; they never change, the
// text behind them may. [ErrorCode] takes a message apart.
const (
	CodeConfig      = "config"      // a setting that cannot be used
	CodeInsecure    = "insecure"    // plaintext to where it is refused
	CodeCredentials = "credentials" // a text that is no NATS credentials
	CodePermission  = "permission"  // the server denies this user a subject
	CodeRefused     = "refused"     // the coordinator does not let this device join
	CodeDim         = "dim"         // the plan's number of parameters is another
	CodeInitial     = "initial"     // the plan's first parameters are others
	CodePlan        = "plan"        // a plan that this version cannot follow
	CodeRunKey      = "runkey"      // the secret of a private run is missing or wrong
	CodeUpgrade     = "upgrade"     // the run needs a later version of this library
	CodeRunning     = "running"     // Run was called while it runs
	CodeStopped     = "stopped"     // Stop was called
	CodeLocked      = "locked"      // another client has the StateDir
	CodeStore       = "store"       // the StateDir cannot be used
	CodeRevoked     = "revoked"     // the callback that this was made for is over
	CodePanic       = "panic"       // a mistake in this library: please report it
	CodeFault       = "fault"       // anything else

	// Of OnFault alone: nothing ends.
	CodeOffline      = "offline"      // no server can be reached
	CodeQuiet        = "quiet"        // no coordinator answers: the run has not begun, or nobody leads it now
	CodeTLS          = "tls"          // the server's certificate is not trusted, or it has none
	CodeUnauthorized = "unauthorized" // the server does not know this user
	CodeLoss         = "loss"         // the objective failed, or its loss was not finite
	CodeTime         = "time"         // a round is too short for this device
	CodeBusy         = "busy"         // an earlier callback has not returned
	CodePolicy       = "policy"       // what the Config asks of power or network does not hold
	CodeDiverged     = "diverged"     // the state differs from the run's, and is made anew
)

var codes = map[string]bool{
	CodeConfig: true, CodeInsecure: true, CodeCredentials: true, CodePermission: true, CodeRefused: true,
	CodeDim: true, CodeInitial: true, CodePlan: true, CodeRunKey: true, CodeUpgrade: true, CodeRunning: true,
	CodeStopped: true, CodeLocked: true, CodeStore: true, CodeRevoked: true, CodePanic: true, CodeFault: true,
	CodeOffline: true, CodeQuiet: true, CodeTLS: true, CodeUnauthorized: true, CodeLoss: true, CodeTime: true, CodeBusy: true,
	CodePolicy: true, CodeDiverged: true,
}

// ErrorCode returns the code that an error's message begins with, or "" where it
// is no error of this package.
func ErrorCode(message string) string {
	code, _, found := strings.Cut(message, ": ")
	if !found || !codes[code] {
		return ""
	}
	return code
}
