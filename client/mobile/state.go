package mobile

import "github.com/zofl/zofl/client"

// States of a [Client].
const (
	StateIdle       = 0 // Run is not running
	StateOffline    = 1 // no connection; the client keeps trying
	StateJoining    = 2 // waiting for the coordinator to admit the device
	StateCatchingUp = 3 // applying records that the device missed
	StateWaiting    = 4 // for a round that includes this device
	StateWorking    = 5 // measuring losses
	StatePaused     = 6 // the coordinator opens no rounds
	StateEnded      = 7 // the run is over
	StateStopped    = 8 // Stop was called
)

var stateNames = [...]string{
	"idle", "offline", "joining", "catching up", "waiting", "working", "paused", "ended", "stopped",
}

// StateName returns a state's name in English, or "" if there is no such state.
func StateName(state int) string {
	if state < 0 || state >= len(stateNames) {
		return ""
	}
	return stateNames[state]
}

var states = [...]int{
	client.Joining: StateJoining, client.CatchingUp: StateCatchingUp, client.Waiting: StateWaiting,
	client.Working: StateWorking, client.Paused: StatePaused, client.Ended: StateEnded,
}
