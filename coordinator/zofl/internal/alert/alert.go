package alert

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// A Kind is the cause of an alert.
type Kind string

// The causes.
const (
	Paused   Kind = "paused"
	Diverged Kind = "diverged"
	NoRound  Kind = "no round"       // for a while, although the run is not paused
	Suspect  Kind = "suspect"        // a device whose contributions, keys or shares stand out
	Differ   Kind = "digests differ" // devices hold another model than the others
	Ended    Kind = "ended"
)

// The states of an alert.
const (
	firing   = "firing"
	resolved = "resolved"
)

// An Alert is what webhooks and commands get, as JSON.
type Alert struct {
	Text   string    `json:"text"` // all of it on a line, for people
	Run    string    `json:"run"`
	Kind   Kind      `json:"kind"`
	State  string    `json:"state"`            // firing or resolved
	Reason string    `json:"reason,omitempty"` // why
	Remedy string    `json:"remedy,omitempty"` // commands
	Device string    `json:"device,omitempty"` // Suspect
	Record uint64    `json:"record"`           // the last one of the log
	Round  uint64    `json:"round"`
	Time   time.Time `json:"time"`
}

// mostReason bounds the bytes of a reason.
const mostReason = 1000

var (
	command = regexp.MustCompile("`(zofl [^`]+)`")
	user    = regexp.MustCompile(`://[^/\s@]+@`)
)

// finish completes an alert with a reason: it removes what may not be shown, takes the commands of
// the reason as the remedy, or else the given one, and writes the text.
func (a *Alert) finish(reason, remedy string) {
	reason = user.ReplaceAllString(terminal.Plain(reason), "://")
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "..."
	}
	a.Reason = reason
	if a.State == resolved {
		remedy = ""
	}
	var said []string
	for _, m := range command.FindAllStringSubmatch(reason, -1) {
		said = append(said, m[1])
	}
	a.Remedy, a.Text = remedy, a.sentence()
	switch {
	case a.State == resolved:
	case len(said) > 0: // the text has them already
		a.Remedy = strings.Join(said, "; ")
	case remedy != "":
		a.Text += ". Try: `" + strings.ReplaceAll(remedy, "; ", "`, `") + "`"
	}
	// Slack takes <...> for a link or a call to everybody.
	a.Text = strings.NewReplacer("<", "‹", ">", "›").Replace(a.Text)
}

// sentence is the text without the remedy.
func (a *Alert) sentence() string {
	what := map[Kind]string{
		Paused: "is paused", Diverged: "is paused, because the loss explodes",
		NoRound: "makes no rounds", Suspect: "has a suspect: device " + a.Device,
		Differ: "has devices with another model than the others", Ended: "has ended"}[a.Kind]
	if a.State == resolved {
		what = map[Kind]string{Paused: "goes on", Diverged: "goes on", NoRound: "makes rounds again",
			Suspect: "has no more suspect: device " + a.Device,
			Differ:  "has the same model on all devices again"}[a.Kind]
	}
	text := fmt.Sprintf("zofl: run %s %s (round %d)", a.Run, what, a.Round)
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}
