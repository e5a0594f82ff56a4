package presence

// firstReminder is the number of pauses in a row after which the coordinator first reports again
// that the run lacks devices. After that, the coordinator reports whenever the number of pauses has
// doubled.
const firstReminder = 8

// shortageMost bounds the pause between attempts of a run that lacks devices, as a number of
// announcements.
const shortageMost = 12

// A Shortage is a lack of devices for a quorum. The run asks devices again by itself: when enough
// devices are back, or else after pauses that double. Only an operator can stop that, with Pause.
// Times are in milliseconds.
type Shortage struct {
	Waits   bool   // no attempt is open; devices are told that the run is paused
	Spells  uint32 // how often in a row it had to wait; 0: it has what it needs
	Began   uint64 // the first of these
	Since   uint64
	RetryAt uint64
	Reason  string
	Cause   string // why devices declined; "": none did
}

// Wait begins another pause.
func (s *Shortage) Wait(now, reannounce uint64, reason string) {
	if s.Spells == 0 {
		s.Began = now
	}
	s.Waits, s.Since, s.Reason = true, now, reason
	s.Spells++
	s.RetryAt = now + min(reannounce<<min(s.Spells-1, 8), shortageMost*reannounce)
}

// Reminds says whether the coordinator should report the pause that just began.
func (s *Shortage) Reminds() bool {
	return s.Spells >= firstReminder && s.Spells&(s.Spells-1) == 0
}
