package serve

import (
	"time"

	"github.com/zofl/zofl/coordinator"
)

// judgeEvery is how often the doorman hears whose messages were turned away. A device can have
// 40,000 turned away in that time.
const judgeEvery = 250 * time.Millisecond

// judge tells the doorman whose messages a coordinator turns away, until stop is called.
func (f *serveFlags) judge(c *coordinator.Coordinator) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(judgeEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				for _, o := range c.Offenders() {
					f.doorman.TurnedAway(o.ID, o.Refused+o.Faulty, now)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}
