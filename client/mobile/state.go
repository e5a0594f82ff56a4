package mobile

import "github.com/zofl/zofl/client"

// States of a [Client].
const (
	StateIdle       = 0 // Run is not running
	StateOffline    = 1 // no connection; it is tried again
	StateJoining    = 2 // asking for a place, or waiting for a coordinator
	StateCatchingUp = 3 // applying records that it missed
	StateWaiting    = 4 // for a round that asks this device
	StateWorking    = 5 // probing the loss
	StatePaused     = 6 // the coordinator opens no rounds
	StateEnded      = 7 // the run is over
	StateStopped    = 8 // Stop was called
)

var stateNames = [...]string{
	"idle", "offline", "joining", "catching up", "waiting", "working", "paused", "ended", "stopped",
}

// StateName returns a state's name in English, "" of none.
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
