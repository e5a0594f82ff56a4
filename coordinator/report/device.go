package report

import (
	"time"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// A DeviceState is the state of a member of a listed roster.
type DeviceState uint8

const (
	DevicePresent DeviceState = 0 // it answers, or was not asked yet
	DeviceSilent  DeviceState = 1 // three rounds waited for it in vain
	DeviceAway    DeviceState = 2 // it keeps declining, and takes a break
	DeviceLeft    DeviceState = 3 // it said goodbye
	DeviceRetired DeviceState = 4 // an operator retired it
	DeviceLeftOut DeviceState = 5 // with secure=sum: sums leave it out, because it sent what is false
	DeviceEnded   DeviceState = 6 // the run has ended, and it was in it
)

func (s DeviceState) String() string {
	return [...]string{"present", "silent", "away", "left", "retired", "left out", "ended"}[s]
}

// MarshalText writes the name.
func (s DeviceState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Device is a member of a listed roster, as this coordinator sees it.
type Device struct {
	ID       string
	Slot     uint32
	State    DeviceState
	LastSeen time.Time     // zero: not heard of since this coordinator began
	Latency  time.Duration // time from an announcement to its answer, smoothed; 0: none yet
	Declines uint32        // since this coordinator began
	Missed   uint32        // rounds in a row that waited for it in vain
	Until    time.Time     // DeviceAway: when it is asked again
	Awaited  bool          // the open round waits for it
	Cut      uint32        // contributions and control variates that Plan.Bound cut
	Doubt    float64       // share of its weight that Plan.Trust took
	Refused  uint64        // messages that were dropped unread, because it sent too many
	Faulty   uint64        // messages that no honest device sends
	Suspect  string        // why its contributions, keys or shares make it a suspect; a remedy
	SameID   bool          // two devices send under this id, each with its own answers
	Record   uint64        // last record to which it contributed; 0: none since this one began

	Contributions uint32 // since this coordinator began

	Behind uint64            // records of the log since that one
	About  deviceinfo.Device // what it tells about itself; it may be wrong
	Values deviceinfo.Values // the last numbers that its app reported, by name; nil: none
}
